// Signed documents about changes of keys, and bundles that carry them.

import { bundleOf, changed, ISSUED_AT } from './bundles.ts'
import type { Case, Facts, GivenInPack } from './case.ts'
import { canonical, isoSeconds, type JsonObject, sha256 } from './formats.ts'
import { listedKey, type PackKey, RETIRED_KEY, STATEMENT_KEY, signingKeys } from './keys.ts'

export const DAY = 86_400
export const AUDIENCE = 'https://gateway.example'

export function named(key: PackKey): JsonObject {
  return { key_id: key.id, public_key_hex: key.hex }
}

function signed(tag: string, body: JsonObject, by: PackKey): JsonObject {
  const message = Buffer.concat([Buffer.from(`${tag}\0`), Buffer.from(sha256(canonical(body)), 'hex')])
  return { body, signature: by.sign(message) }
}

interface Change {
  at?: number
  /** Fields of the body that differ. */
  alter?: JsonObject
  /** Signs instead of the right key. */
  by?: PackKey
  tag?: string
}

export function endorsement(
  from: PackKey,
  to: PackKey,
  { at = ISSUED_AT - 30 * DAY, alter, by = from, tag }: Change = {},
) {
  const body = {
    schema: 'svc/key-endorsement/v1',
    purpose: 'statement',
    audience: AUDIENCE,
    endorser: named(from),
    endorsed: named(to),
    valid_from: isoSeconds(at),
    issued_at: isoSeconds(at),
    ...alter,
  }
  return signed(tag ?? 'SVC_KEY_ENDORSEMENT_V1', body, by)
}

export function revocation(revoked: PackKey, by: PackKey, since: number): JsonObject {
  const body = {
    schema: 'svc/key-revocation/v1',
    purpose: 'statement',
    audience: AUDIENCE,
    revoked: named(revoked),
    revoked_by: named(by),
    since: isoSeconds(since),
    issued_at: isoSeconds(ISSUED_AT + 40 * DAY),
  }
  return signed('SVC_KEY_REVOCATION_V1', body, by)
}

export type Changes = { endorsements?: JsonObject[]; revocations?: JsonObject[] }

export const OLD_PINNED: GivenInPack = { pinned_keys: [RETIRED_KEY.hex] }
export const REFUSED: Facts = { key_pinned: 'failed' }
export const GOOD = endorsement(RETIRED_KEY, STATEMENT_KEY)

/** Signed by the newer key with the changes, for a verifier that pinned the older one. */
export function carried(
  name: string,
  what: string,
  changes: Changes,
  expect: Facts = REFUSED,
  given = OLD_PINNED,
): Case {
  const document = changed(bundleOf(), 'signing_keys', {
    ...signingKeys(listedKey(STATEMENT_KEY, 'receipt')),
    ...changes,
  })
  return { name: `keys-${name}`, what, document, given, expect }
}
