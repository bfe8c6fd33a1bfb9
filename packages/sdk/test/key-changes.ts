// For tests: endorsements and revocations by the keys of a gateway.

import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import {
  type Endorsement,
  endorsementMessage,
  namedKey,
  type Revocation,
  revocationMessage,
  signedChange,
} from '@svc/protocol/key-changes'
import type { Ed25519Signer } from '@svc/protocol/keys'

interface Change {
  /** The address of the gateway. */
  audience: string
  by: Ed25519Signer
  /** The key that is endorsed or revoked. */
  of: Ed25519Signer
  /** Unix seconds. */
  at: number
}

const named = ({ publicKey }: Ed25519Signer) => namedKey(toHex(publicKey))

export function endorsement({ audience, by, of, at }: Change): Endorsement {
  const times = { valid_from: isoSeconds(at), issued_at: isoSeconds(at) }
  const keys = { endorser: named(by), endorsed: named(of) }
  const body = { schema: 'svc/key-endorsement/v1', purpose: 'statement', audience, ...keys, ...times } as const
  return signedChange(body, by.sign(endorsementMessage(body)))
}

export function revocation({ audience, by, of, at }: Change): Revocation {
  const times = { since: isoSeconds(at), issued_at: isoSeconds(at) }
  const keys = { revoked: named(of), revoked_by: named(by) }
  const body = { schema: 'svc/key-revocation/v1', purpose: 'statement', audience, ...keys, ...times } as const
  return signedChange(body, by.sign(revocationMessage(body)))
}
