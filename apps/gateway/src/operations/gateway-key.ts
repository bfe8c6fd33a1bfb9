// Whether a key that stands in a document is one of this gateway's.

import { toHex } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import type { Context } from '../context.ts'
import { createKeysAt, type KeyOfTime } from '../keys/signing-keys.ts'

/** A database from before the configured key was first used does not list it for the time of the document. */
export async function gatewayKey(context: Context, hex: string, unixSeconds: number): Promise<KeyOfTime | null> {
  const listed = (await createKeysAt(context)(unixSeconds)).get(hex)
  if (listed) return listed
  const verifier = hex === toHex(context.signers.statement.publicKey) ? ed25519PublicKeyFromHex(hex) : null
  return verifier && { verifier, revokedSince: null }
}
