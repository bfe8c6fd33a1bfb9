// The buckets that an access key opens. They are lockers: bought and not created, and they stay when they are empty.

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

export const listBuckets: ServiceVerb['operation'] = async ({ config }, { query, signed }, { held, buckets }) => {
  for (const locker of buckets.values()) requireShortLink(locker, signed.authorization.expiresIn)
  const prefix = query.get('prefix') ?? ''
  const names = [...buckets.keys()].filter((name) => name.startsWith(prefix)).sort(compareCodePoints)
  const listed = names.map((Name) => {
    const { created_at } = buckets.get(Name) as Locker
    return { Name, CreationDate: formatXmlDate(unixSeconds(created_at) ?? 0), BucketRegion: config.s3.region }
  })
  return xmlAnswer(200, 'ListAllMyBucketsResult', {
    Owner: 'wallet' in held ? named(held.accessKeyId) : named(held.lockerId),
    Buckets: listed.length > 0 ? { Bucket: listed } : '',
  })
}

export const headBucket: S3Operation = async ({ config }) =>
  emptyAnswer(200, { 'x-amz-bucket-region': config.s3.region })

/** What S3 calls the first of its regions. */
const DEFAULT_LOCATION = 'us-east-1'

/** Clients sign for it afterwards; every region is as good. */
export const getLocation: S3Operation = async ({ config: { s3 } }) =>
  xmlAnswer(200, 'LocationConstraint', s3.region === DEFAULT_LOCATION ? '' : s3.region)

const MAX_CONFIGURATION_BYTES = 16 * 1024

/** Clients create a bucket before they write to it. That of another locker is refused before this. */
export const createBucket: S3Operation = async (_context, request) => {
  const { signed } = request
  refuseAcl(signed.headers)
  if (signed.headers['x-amz-bucket-object-lock-enabled']?.toLowerCase() === 'true') {
    throw s3Error('NotImplemented', 'a locker has no object lock', 'create the bucket without it')
  }
  await readSmallBody(request, MAX_CONFIGURATION_BYTES)
  return emptyAnswer(200, { location: `/${request.bucket}` })
}

export const deleteBucket: S3Operation = async (_context, _request, { locker }) => {
  if (locker.file_count > 0)
    throw s3Error('BucketNotEmpty', 'there are files in the locker', 'delete its files; the locker itself stays')
  throw s3Error('NotImplemented', 'a locker cannot be deleted', 'it is empty; it ends with the time that was paid')
}
