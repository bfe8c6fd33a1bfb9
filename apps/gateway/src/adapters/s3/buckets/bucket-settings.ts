// Responses about bucket settings that lockers do not have: the response of S3 for a bucket without them.

import { type S3ErrorCode, s3Error } from '@svc/s3/errors'
import type { XmlValue } from '@svc/s3/xml'
import { emptyAnswer, xmlAnswer } from '../answers.ts'
import type { S3Operation, Verbs } from '../operation.ts'
import { acceptPrivateAcl, aclAnswer } from '../owner.ts'

const getAcl: S3Operation = async (_context, _request, { locker }) => aclAnswer(locker)

const putAcl: S3Operation = async (_context, request, { locker }) => acceptPrivateAcl(request, locker)

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

/** The absent settings that S3 can delete. */
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

/** Attempts to set one are rejected like every unsupported operation. */
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
