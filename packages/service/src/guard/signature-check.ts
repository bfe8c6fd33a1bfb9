// Checks one signature of either algorithm, and caches the keys of recent signers.

import { lru } from '@svc/concurrency/caches'
import { fromBase58 } from '@svc/protocol/bytes'
import { type Ed25519Verifier, ed25519PublicKeyFromBase58, sigAlgOf } from '@svc/protocol/keys'
import { createPersonalCheck } from './personal-check.ts'

/** A text, and who is said to have signed it. */
export interface Signed {
  /** An Ed25519 key in base58, or an EVM address in lower case. */
  identity: string
  message: Uint8Array
  /** As in the header. */
  signature: string
}

export type SignatureCheck = (signed: Signed) => boolean

const MAX_KEYS = 10_000

export function createSignatureCheck(): SignatureCheck {
  const isPersonallySigned = createPersonalCheck()
  const keys = lru<string, Ed25519Verifier>(MAX_KEYS)

  function keyOf(identity: string): Ed25519Verifier | null {
    const known = keys.get(identity)
    if (known) return known
    const key = ed25519PublicKeyFromBase58(identity)
    if (key) keys.set(identity, key)
    return key
  }

  return ({ identity, message, signature }) => {
    if (sigAlgOf(identity) === 'secp256k1') return isPersonallySigned(identity, message, signature)
    const bytes = fromBase58(signature, 64)
    return bytes !== null && (keyOf(identity)?.verify(message, bytes) ?? false)
  }
}
