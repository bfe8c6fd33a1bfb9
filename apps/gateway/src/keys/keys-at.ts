import { type Ed25519Verifier, ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import type { Db } from '../db/schema.ts'
import { signingKeysAt } from './key-periods.ts'

export interface SigningKeyAt {
  verifier: Ed25519Verifier
  /** Unix seconds; null for a key that is not revoked. A thief can backdate signatures to any time (ADD-39). */
  revokedSince: number | null
}

/** The keys that may have signed at a time, by public key in hex (ADD-07). */
export type KeysAt = (unixSeconds: number) => Promise<Map<string, SigningKeyAt>>

export function createKeysAt({ db }: { db: Db }): KeysAt {
  // Parsing a key takes longer than verifying with it. The map has as many keys as the gateway ever had.
  const parsed = new Map<string, Ed25519Verifier>()

  function verifierOf(hex: string): Ed25519Verifier {
    const key = parsed.get(hex) ?? ed25519PublicKeyFromHex(hex)
    if (!key) throw new Error(`the signing key ${hex} is not an Ed25519 public key`)
    parsed.set(hex, key)
    return key
  }

  return async (unixSeconds) => {
    const keys = await signingKeysAt(db, unixSeconds)
    return new Map(keys.map(({ hex, revokedSince }) => [hex, { verifier: verifierOf(hex), revokedSince }]))
  }
}
