import { type Ed25519Verifier, ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import type { Context } from '../context.ts'
import { signingKeysAt } from './signing-keys.ts'

/** The keys that may have signed at a time, by their hex. */
export type KeysAt = (unixSeconds: number) => Promise<Map<string, Ed25519Verifier>>

export function createKeysAt(parts: Pick<Context, 'database'>): KeysAt {
  // To make a key ready takes longer than to verify with it; there are as many as the operator ever had.
  const ready = new Map<string, Ed25519Verifier>()

  function readyKey(hex: string): Ed25519Verifier {
    const key = ready.get(hex) ?? ed25519PublicKeyFromHex(hex)
    if (!key) throw new Error(`the signing key ${hex} is none`)
    ready.set(hex, key)
    return key
  }

  return async (unixSeconds) => new Map((await signingKeysAt(parts, unixSeconds)).map((hex) => [hex, readyKey(hex)]))
}
