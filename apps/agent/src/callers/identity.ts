import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ValidationError } from '@svc/service/service-error'

/** The identity in the header. EVM addresses are lower-cased, as in receipts. */
export function identityOf({ headers }: WireRequest): string {
  const given = headers[HEADER_IDENTITY.toLowerCase()]
  const identity = typeof given === 'string' ? asIdentity(given.trim()) : null
  if (identity) return identity
  throw new ValidationError({
    loc: ['header', HEADER_IDENTITY],
    msg: 'must be the address that pays: base58 of an Ed25519 key, or 0x and 40 hex characters',
  })
}

function asIdentity(text: string): string | null {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  return ed25519PublicKeyFromBase58(text) ? text : null
}
