import type { Verbs } from '../operation.ts'
import { copyObject } from './copy-object.ts'
import { deleteObject } from './delete-object.ts'
import { deleteObjects } from './delete-objects.ts'
import { getObject } from './get-object.ts'
import { getObjectAcl, getObjectAttributes, getObjectTagging, putObjectAcl } from './object-attributes.ts'
import { putObject } from './put-object.ts'

export const objectVerbs: Verbs = {
  'GET object': { operation: getObject, needs: 'read' },
  'HEAD object': { operation: getObject, needs: 'read' },
  'PUT object': { operation: putObject, needs: 'write' },
  'PUT object copy': { operation: copyObject, needs: 'write' },
  'DELETE object': { operation: deleteObject, needs: 'write' },
  'POST bucket?delete': { operation: deleteObjects, needs: 'write' },
  'GET object?attributes': { operation: getObjectAttributes, needs: 'read' },
  'GET object?acl': { operation: getObjectAcl, needs: 'read' },
  'PUT object?acl': { operation: putObjectAcl, needs: 'write' },
  'GET object?tagging': { operation: getObjectTagging, needs: 'read' },
}
