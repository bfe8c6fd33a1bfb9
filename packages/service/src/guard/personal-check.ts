// Whether an EVM address signed. Its key is not known until it has signed once: then it is recovered from the signature,
// and kept for the next ones.

import { lru } from '@svc/concurrency/caches'
import { evmAddress, type PersonalVerifier, personalVerifier, recoverPersonalKey } from '@svc/protocol/keys'

/** `address` in lower case. */
export type PersonalCheck = (address: string, message: Uint8Array, signature: string) => boolean

/** Preparing a key pays for those who go on signing. */
const PREPARE_AFTER = 8
/** A prepared key takes about 100 KiB. */
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
