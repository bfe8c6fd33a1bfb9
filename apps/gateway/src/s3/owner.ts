// Whom answers call the owner of a bucket and of all that is in it.

import { Readable } from 'node:stream'
import { Bytes } from '@svc/http-service/answer'
import { writeXml } from '@svc/s3/xml'
import type { Locker } from '../db/schema.ts'
import { XML_TYPE } from './answers.ts'

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

const CANONICAL_USER = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"'
