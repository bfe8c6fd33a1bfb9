import { listObjects } from '../lists/list-objects.ts'
import { listVersions } from '../lists/list-versions.ts'
import type { ServiceVerb, Verbs } from '../operation.ts'
import { settingVerbs } from './bucket-settings.ts'
import { createBucket, deleteBucket, getLocation, headBucket, listBuckets } from './buckets.ts'

export const serviceVerbs: Readonly<Record<string, ServiceVerb>> = {
  'GET service': { operation: listBuckets },
}

export const bucketVerbs: Verbs = {
  ...settingVerbs,
  'GET bucket': { operation: listObjects, needs: 'read' },
  'GET bucket?location': { operation: getLocation, needs: 'read' },
  'GET bucket?versions': { operation: listVersions, needs: 'read' },
  'HEAD bucket': { operation: headBucket, needs: 'read' },
  // Changes nothing, so a read-only key suffices.
  'PUT bucket': { operation: createBucket, needs: 'read' },
  'DELETE bucket': { operation: deleteBucket, needs: 'write' },
}
