// Checks by the address in `aud` that an envelope is for this service. Without this, another service could forward
// envelopes that it received (T-55). The Host header proves nothing, because the sender chooses it.

import { mayBePublicHost } from '@svc/protocol/public-address'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import type { Mode } from '../program/config.ts'
import { ServiceError } from '../service-error.ts'

/** Throws for an envelope that is not for this service. */
export type AudienceCheck = (envelope: RequestEnvelope) => void

/** In development a service has many addresses: localhost, 127.0.0.1, the name of a container. */
export function createAudienceCheck(mode: Mode, baseUrl: string): AudienceCheck {
  const own = normalized(new URL(baseUrl))
  return ({ aud }) => {
    const url = typeof aud === 'string' ? URL.parse(aud) : null
    const isOwn = url && (normalized(url) === own || (mode === 'development' && isPrivate(url)))
    if (isOwn) return
    throw new ServiceError('AUDIENCE_MISMATCH', 'the envelope is not for this service', {
      hint: `this service is ${baseUrl}: send requests to that address, and sign it as \`aud\``,
    })
  }
}

function normalized({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/+$/, '')
}

function isPrivate({ hostname }: URL): boolean {
  return !mayBePublicHost(hostname.replace(/^\[|\]$/g, ''))
}
