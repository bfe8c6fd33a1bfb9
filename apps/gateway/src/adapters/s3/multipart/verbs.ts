import type { Verbs } from '../operation.ts'
import { abortUpload } from './abort-upload.ts'
import { completeUpload } from './complete-upload.ts'
import { copyPart } from './copy-part.ts'
import { createUpload } from './create-upload.ts'
import { listParts } from './list-parts.ts'
import { listUploads } from './list-uploads.ts'
import { uploadPart } from './upload-part.ts'

export const multipartVerbs: Verbs = {
  'GET bucket?uploads': { operation: listUploads, needs: 'read' },
  'POST object?uploads': { operation: createUpload, needs: 'write' },
  'PUT object?uploadId': { operation: uploadPart, needs: 'write' },
  'PUT object?uploadId copy': { operation: copyPart, needs: 'write' },
  'GET object?uploadId': { operation: listParts, needs: 'read' },
  'POST object?uploadId': { operation: completeUpload, needs: 'write' },
  'DELETE object?uploadId': { operation: abortUpload, needs: 'write' },
}
