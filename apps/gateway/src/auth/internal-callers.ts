// Who may call the internal endpoints: holders of the shared secret, and allowed services of the identity provider.

import { hash, timingSafeEqual } from 'node:crypto'
import type { Mode } from '@svc/http-service/config'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { bearerToken, type OidcVerifier } from './oidc.ts'

interface InternalCallerSettings {
  mode: Mode
  secret: string | null
  oidc: OidcVerifier | null
}

export type InternalCallerCheck = (wire: Pick<WireRequest, 'headers'>) => Promise<void>

export function createInternalCallerCheck({ mode, secret, oidc }: InternalCallerSettings): InternalCallerCheck {
  if (secret === null && mode === 'development') return async () => {}
  const expected = secret === null ? null : secretDigest(secret)

  return async ({ headers: { authorization } }) => {
    const token = bearerToken(authorization)
    if (!token) throw refusal()
    // Digests: they are equally long, and how far two of them agree tells nothing about the secret.
    if (expected && timingSafeEqual(digest(token), expected)) return
    if (!oidc) throw refusal()
    await oidc.verify(authorization).catch(refuseBadToken)
  }
}

function secretDigest(secret: string): Buffer {
  if (bearerToken(`Bearer ${secret}`) !== secret) {
    throw new RangeError('an internal caller secret that is not visible ASCII could never be sent')
  }
  return digest(secret)
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** A provider that is down stays a 503, which schedulers try again (INT-05). */
function refuseBadToken(error: unknown): never {
  throw error instanceof ServiceError && error.status < 500 ? refusal() : error
}

function refusal(): ServiceError {
  return new ServiceError('INTERNAL_AUTH_REQUIRED', 'this endpoint is for internal callers', {
    hint: 'send "Authorization: Bearer <credential>": the internal caller secret, or an OIDC token of an allowed service',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
