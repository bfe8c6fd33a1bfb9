// From a signed request to who is calling. The envelope names no key: whose signature it must be is said beside it.

import { addressKey } from '@svc/guard/address-key'
import { notSigned } from '@svc/guard/signers'
import { readEnvelope, requireMatchingEnvelope } from '@svc/http-service/envelope'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Op } from '@svc/protocol/names'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { type Context, unixNow } from '../context.ts'
import { limitIdentity } from './limits.ts'

const NONCE_KEPT_SECONDS = 60

/** Throws unless the identity itself signed this very request, now and for the first time. */
export async function requireSignedBy(
  context: Context,
  wire: WireRequest,
  identity: string,
  ops: readonly (Op | readonly Op[])[],
): Promise<RequestEnvelope> {
  const signed = readEnvelope(wire)
  await requireSignature(context, wire, signed, identity)
  const { envelope } = signed
  requireMatchingEnvelope(envelope, wire, ops, unixNow(context))
  const nonce = { signer: identity, nonce: envelope.nonce, forget_at: envelope.exp + NONCE_KEPT_SECONDS }
  if (!(await context.useNonce(nonce))) throw replayed()
  // Last: who repeats what others signed must not use up their limit.
  await limitIdentity(context, identity)
  return envelope
}

function replayed(): ServiceError {
  return new ServiceError('NONCE_REPLAYED', 'this envelope was used before', {
    hint: 'sign each request anew, with a fresh nonce',
  })
}

/** Wrong signatures cost a verification each: an address may show so many in a minute. */
async function requireSignature(
  { findSigner, rateLimiter, config }: Context,
  { clientAddress }: WireRequest,
  signed: ReturnType<typeof readEnvelope>,
  identity: string,
): Promise<void> {
  const ask = { key: `bad signatures ${addressKey(clientAddress)}`, perMinute: config.limits.perAddress }
  rateLimiter.refuseExhausted(ask)
  const candidates = { owner: identity, operators: [] }
  if (await findSigner(signed, candidates)) return
  await rateLimiter.take(ask)
  throw notSigned(candidates)
}
