// The buckets that an access key opens. They are lockers: bought rather than created, and they remain when empty.

import { unixSeconds } from '@svc/protocol/evidence'
import { compareCodePoints } from '@svc/protocol/order'
import { formatXmlDate } from '@svc/s3/dates'
import { s3Error } from '@svc/s3/errors'
import { requireShortLink } from '../../../auth/restrictions.ts'
import type { Locker } from '../../../db/schema.ts'
import { emptyAnswer, xmlAnswer } from '../answers.ts'
import type { S3Operation, ServiceVerb } from '../operation.ts'
import { named, refuseAcl } from '../owner.ts'
import { readSmallBody } from '../request.ts'

export const listBuckets: ServiceVerb['operation'] = async ({ config }, { query, signed }, { presented, buckets }) => {
  for (const locker of buckets.values()) requireShortLink(locker, signed.authorization.expiresIn)
  const prefix = query.get('prefix') ?? ''
  const names = [...buckets.keys()].filter((name) => name.startsWith(prefix)).sort(compareCodePoints)
  const listed = names.map((Name) => {
    const { created_at } = buckets.get(Name) as Locker
    return { Name, CreationDate: formatXmlDate(unixSeconds(created_at) ?? 0), BucketRegion: config.s3.region }
  })
  return xmlAnswer(200, 'ListAllMyBucketsResult', {
    Owner: 'wallet' in presented ? named(presented.accessKeyId) : named(presented.lockerId),
    Buckets: listed.length > 0 ? { Bucket: listed } : '',
  })
}

export const headBucket: S3Operation = async ({ config }) =>
  emptyAnswer(200, { 'x-amz-bucket-region': config.s3.region })

/** The name of the first S3 region. */
const DEFAULT_LOCATION = 'us-east-1'

/** Clients then sign for this region; the gateway accepts every region. */
export const getLocation: S3Operation = async ({ config: { s3 } }) =>
  xmlAnswer(200, 'LocationConstraint', s3.region === DEFAULT_LOCATION ? '' : s3.region)

const MAX_CONFIGURATION_BYTES = 16 * 1024

/**
 * Succeeds without effect: clients create a bucket before they write to it. A bucket of another owner was rejected
 * earlier.
 */
export const createBucket: S3Operation = async (_context, request) => {
  const { signed } = request
  refuseAcl(signed.headers)
  if (signed.headers['x-amz-bucket-object-lock-enabled']?.toLowerCase() === 'true') {
    throw s3Error('NotImplemented', 'a locker has no object lock', 'create the bucket without object lock')
  }
  await readSmallBody(request, MAX_CONFIGURATION_BYTES)
  return emptyAnswer(200, { location: `/${request.bucket}` })
}

export const deleteBucket: S3Operation = async (_context, _request, { locker }) => {
  if (locker.file_count > 0)
    throw s3Error('BucketNotEmpty', 'the locker contains files', 'delete its files; the locker itself remains')
  throw s3Error('NotImplemented', 'a locker cannot be deleted', 'the locker is empty and ends with its paid term')
}
