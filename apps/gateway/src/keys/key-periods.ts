// The periods in which each key signed.

import { isKeyOfTime } from '@svc/protocol/keys'
import type { Selectable } from 'kysely'
import type { Db, SigningKeyTable } from '../db/schema.ts'
import { allSigningKeys } from './store.ts'

/** Null for a key that still signs. */
export function endOf({ valid_from, valid_to, revoked_since }: Selectable<SigningKeyTable>): string | null {
  if (revoked_since === null) return valid_to
  const since = revoked_since > valid_from ? revoked_since : valid_from
  return valid_to !== null && valid_to < since ? valid_to : since
}

/** The keys that may have signed at a time. A revoked key ends at once: no replica hands over from it. */
export async function signingKeysAt(db: Db, unixSeconds: number) {
  const keys = (await allSigningKeys(db)).map((key) => ({
    hex: key.public_key_hex,
    validFrom: unixSecondsOf(key.valid_from),
    validTo: unixSecondsOf(endOf(key)),
    revokedSince: unixSecondsOf(key.revoked_since),
  }))
  return keys.filter((key) => isKeyOfTime(key, keys, unixSeconds) && unixSeconds < (key.revokedSince ?? Infinity))
}

function unixSecondsOf(iso: string): number
function unixSecondsOf(iso: string | null): number | null
function unixSecondsOf(iso: string | null): number | null {
  return iso === null ? null : Math.floor(Date.parse(iso) / 1000)
}
