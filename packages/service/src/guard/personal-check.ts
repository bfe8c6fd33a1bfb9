// Checks signatures of EVM addresses. The public key of an address is unknown until its first signature: then it is
// recovered from that, and cached for the next ones.

import { lru } from '@svc/concurrency/caches'
import { evmAddress, type PersonalVerifier, personalVerifier, recoverPersonalKey } from '@svc/protocol/keys'

/** `address` in lower case. */
export type PersonalCheck = (address: string, message: Uint8Array, signature: string) => boolean

/** Preparing a key pays off for owners who keep signing. */
const PREPARE_AFTER = 8
/** The size of a prepared key is about 100 KiB. */
const MAX_OWNERS = 100

interface Owner {
  signatures: number
  verify: PersonalVerifier | null
}

export function createPersonalCheck(): PersonalCheck {
  const owners = lru<string, Owner>(MAX_OWNERS)
  return (address, message, signature) => {
    const known = owners.get(address)
    if (known?.verify) return known.verify(message, signature)
    const publicKey = recoverPersonalKey(message, signature)
    if (!publicKey || evmAddress(publicKey) !== address) return false
    const signatures = (known?.signatures ?? 0) + 1
    owners.set(address, { signatures, verify: signatures < PREPARE_AFTER ? null : personalVerifier(publicKey) })
    return true
  }
}
