// Identifies the key that requested a short URL, in a form that only this gateway can read: anyone with the URL can
// read its token, and must not learn whose key it was. Gateways with the same key for short URLs compute the same
// marks.

import { createHmac } from 'node:crypto'
import { lru } from '@svc/concurrency/caches'
import { toBase64Url, utf8 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'

export type MarkKey = (lockerId: string, key: string) => string

/** Tokens are JSON objects, so no token has this signature. It stays secret. */
const DOMAIN = utf8('svc/short-url-marks/v1')
const MARK_BYTES = 12
const CACHED = 1000

export function createKeyMarks(signer: Ed25519Signer): MarkKey {
  const secret = signer.sign(DOMAIN)
  const marks = lru<string, string>(CACHED)
  return (lockerId, key) => {
    const named = `${lockerId} ${key}`
    const known = marks.get(named)
    if (known !== undefined) return known
    const mark = toBase64Url(createHmac('sha256', secret).update(named).digest().subarray(0, MARK_BYTES))
    marks.set(named, mark)
    return mark
  }
}
