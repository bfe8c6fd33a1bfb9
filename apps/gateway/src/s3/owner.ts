// Whom answers call the owner of a bucket and of all that is in it.

import { Readable } from 'node:stream'
import { Bytes } from '@svc/http-service/answer'
import { s3Error } from '@svc/s3/errors'
import { writeXml } from '@svc/s3/xml'
import type { Locker } from '../db/schema.ts'
import { emptyAnswer, XML_TYPE } from './answers.ts'
import type { S3Request } from './request.ts'

/** Whoever has a key to the bucket knows this name already; the owner's wallet they need not know. */
export function ownerOf({ locker_id }: Locker) {
  return { ID: locker_id, DisplayName: locker_id }
}

/** The owner has full control, and nobody else has any: access is by keys of the locker. */
export function aclAnswer(locker: Locker): Bytes {
  const Owner = ownerOf(locker)
  const Grant = { Grantee: Owner, Permission: 'FULL_CONTROL' }
  const xml = writeXml('AccessControlPolicy', { Owner, AccessControlList: { Grant } })
  // Clients fail without the attribute.
  const text = Buffer.from(xml.replace('<Grantee>', `<Grantee ${CANONICAL_USER}>`))
  return new Bytes(200, { 'content-type': XML_TYPE, 'content-length': String(text.length) }, Readable.from([text]))
}

/** What everything in a locker is to others. */
export const PRIVATE_ACLS: readonly string[] = ['private', 'bucket-owner-full-control']

/** To make private what is private changes nothing. */
export function keepAcl({ signed: { headers } }: S3Request): Bytes {
  const isGranting = Object.keys(headers).some((name) => name.startsWith('x-amz-grant-'))
  if (PRIVATE_ACLS.includes(headers['x-amz-acl'] ?? '') && !isGranting) return emptyAnswer(200)
  throw s3Error(
    'AccessControlListNotSupported',
    'a locker has no access control lists',
    'make access keys for those who shall read or write',
  )
}

const CANONICAL_USER = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"'
