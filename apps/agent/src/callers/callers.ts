// Authenticates callers. The envelope of a request names no key: the identity header or the request determines the
// expected signer.

import type { Op } from '@svc/protocol/names'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { addressKey } from '@svc/service/guard/address-key'
import { createAudienceCheck } from '@svc/service/guard/audience'
import { notSigned } from '@svc/service/guard/signers'
import { readEnvelope, requireMatchingEnvelope } from '@svc/service/http/envelope'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'

export interface Callers {
  /** Throws unless the identity signed exactly this request for this service, recently and for the first time. */
  requireSignedBy(wire: WireRequest, identity: string, ops: readonly (Op | readonly Op[])[]): Promise<RequestEnvelope>
  /** Limits unauthenticated requests by client address. */
  limitAnonymous(wire: WireRequest): Promise<void>
}

const NONCE_LIFETIME_SECONDS = 60

export function createCallers(context: Context): Callers {
  const { rateLimiter, config, findSigner, useNonce } = context
  const requireAudience = createAudienceCheck(config.mode, config.http.baseUrl)

  /** Every invalid signature costs a verification, so an address may send only a limited number per minute. */
  async function requireSignature(
    { clientAddress }: WireRequest,
    signed: ReturnType<typeof readEnvelope>,
    identity: string,
  ): Promise<void> {
    const limit = { key: `bad signatures ${addressKey(clientAddress)}`, perMinute: config.limits.perAddress }
    rateLimiter.refuseExhausted(limit)
    const candidates = { owner: identity, operators: [] }
    if (await findSigner(signed, candidates)) return
    await rateLimiter.take(limit)
    throw notSigned(candidates, signed)
  }

  return {
    async requireSignedBy(wire, identity, ops) {
      context.clock.assertRight()
      const signed = readEnvelope(wire)
      const { envelope } = signed
      // Clients up to 1.0.0 name none.
      if (envelope.aud !== undefined) requireAudience(envelope)
      await requireSignature(wire, signed, identity)
      requireMatchingEnvelope(envelope, wire, ops, unixNow(context))
      const nonce = { signer: identity, nonce: envelope.nonce, forget_at: envelope.exp + NONCE_LIFETIME_SECONDS }
      if (!(await useNonce(nonce))) throw replayed()
      // Counted last, so that replayed requests do not use up the limit of the identity.
      await rateLimiter.take({ key: `identity ${identity}`, perMinute: config.limits.perIdentity })
      return envelope
    },
    async limitAnonymous({ clientAddress }) {
      await rateLimiter.take({ key: `address ${addressKey(clientAddress)}`, perMinute: config.limits.perAddress })
    },
  }
}

function replayed(): ServiceError {
  return new ServiceError('NONCE_REPLAYED', 'this envelope was already used', {
    hint: 'sign each request separately with a new nonce',
  })
}
