// Who asked for a short URL, in a form that only this gateway can read: anybody who has the URL can read its token, and
// must not learn whose key it was. Gateways with the same key for short URLs make the same marks.

import { createHmac } from 'node:crypto'
import { toBase64Url, utf8 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'

export type MarkKey = (lockerId: string, key: string) => string

/** Tokens are JSON objects, so no token ever has this signature, which stays secret. */
const DOMAIN = utf8('svc/short-url-marks/v1')
const MARK_BYTES = 12

export function createKeyMarks(signer: Ed25519Signer): MarkKey {
  const secret = signer.sign(DOMAIN)
  return (lockerId, key) =>
    toBase64Url(createHmac('sha256', secret).update(`${lockerId} ${key}`).digest().subarray(0, MARK_BYTES))
}
