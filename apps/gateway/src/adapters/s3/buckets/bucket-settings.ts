// What a bucket answers about settings that no locker has: what S3 answers for a bucket where nobody has set them.

import { type S3ErrorCode, s3Error } from '@svc/s3/errors'
import type { XmlValue } from '@svc/s3/xml'
import { emptyAnswer, xmlAnswer } from '../answers.ts'
import type { S3Operation, Verbs } from '../operation.ts'
import { aclAnswer, keepAcl } from '../owner.ts'

const getAcl: S3Operation = async (_context, _request, { locker }) => aclAnswer(locker)

const putAcl: S3Operation = async (_context, request, { locker }) => keepAcl(request, locker)

const EMPTY: Readonly<Record<string, [root: string, value: XmlValue]>> = {
  accelerate: ['AccelerateConfiguration', {}],
  logging: ['BucketLoggingStatus', {}],
  notification: ['NotificationConfiguration', {}],
  requestPayment: ['RequestPaymentConfiguration', { Payer: 'BucketOwner' }],
  versioning: ['VersioningConfiguration', {}],
}

const ABSENT: Readonly<Record<string, S3ErrorCode>> = {
  cors: 'NoSuchCORSConfiguration',
  encryption: 'ServerSideEncryptionConfigurationNotFoundError',
  lifecycle: 'NoSuchLifecycleConfiguration',
  'object-lock': 'ObjectLockConfigurationNotFoundError',
  ownershipControls: 'OwnershipControlsNotFoundError',
  policy: 'NoSuchBucketPolicy',
  policyStatus: 'NoSuchBucketPolicy',
  publicAccessBlock: 'NoSuchPublicAccessBlockConfiguration',
  replication: 'ReplicationConfigurationNotFoundError',
  tagging: 'NoSuchTagSet',
  website: 'NoSuchWebsiteConfiguration',
}

/** Those of the absent ones that S3 can delete. */
const DELETABLE = [
  'cors',
  'encryption',
  'lifecycle',
  'ownershipControls',
  'policy',
  'publicAccessBlock',
  'replication',
  'tagging',
  'website',
]

const deleteNothing: S3Operation = async () => emptyAnswer(204)

function answering([root, value]: [string, XmlValue]): S3Operation {
  return async () => xmlAnswer(200, root, value)
}

function refusing(code: S3ErrorCode, setting: string): S3Operation {
  return async () => {
    throw s3Error(code, `a locker has no ${setting} settings`)
  }
}

/** Setting one is refused like everything else that the door does not do. */
export const settingVerbs: Verbs = {
  'GET bucket?acl': { operation: getAcl, needs: 'read' },
  'PUT bucket?acl': { operation: putAcl, needs: 'write' },
  ...Object.fromEntries(
    Object.entries(EMPTY).map(([name, value]) => [
      `GET bucket?${name}`,
      { operation: answering(value), needs: 'read' },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(ABSENT).map(([name, code]) => [
      `GET bucket?${name}`,
      { operation: refusing(code, name), needs: 'read' },
    ]),
  ),
  ...Object.fromEntries(
    DELETABLE.map((name) => [`DELETE bucket?${name}`, { operation: deleteNothing, needs: 'write' }]),
  ),
}
