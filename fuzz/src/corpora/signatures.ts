// All checks of Ed25519 signatures in our packages, for servers and browsers alike.

import { ed25519PublicKey, isEd25519SignedBy } from '@svc/protocol/keys'
import type { SignatureCase } from './cases.ts'

type Signed = Pick<SignatureCase, 'publicKey' | 'message' | 'signature'>

export function verdictsOn({ publicKey, message, signature }: Signed): Record<string, boolean> {
  const key = ed25519PublicKey(publicKey)
  return {
    verify: key?.verify(message, signature) ?? false,
    isEd25519SignedBy: isEd25519SignedBy(publicKey, message, signature),
  }
}
