// Callers with a shared secret: internal callers, which may send an OIDC token instead, and oracles.

import { hash, timingSafeEqual } from 'node:crypto'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Mode } from '@svc/service/program/config'
import { ServiceError } from '@svc/service/service-error'
import { bearerToken } from './bearer-token.ts'
import type { OidcIdentity, OidcVerifier } from './oidc.ts'

interface InternalCallerSettings {
  mode: Mode
  secret: string | null
  oidc: OidcVerifier | null
}

/** The caller's identity. `development`: no credential is required. */
export type InternalCaller = { kind: 'secret' | 'development' } | ({ kind: 'oidc' } & OidcIdentity)

/** Throws unless the caller is internal. */
export type InternalCallerCheck = (wire: Pick<WireRequest, 'headers'>) => Promise<InternalCaller>

export function createInternalCallerCheck({ mode, secret, oidc }: InternalCallerSettings): InternalCallerCheck {
  if (secret === null && mode === 'development') return async () => ({ kind: 'development' })
  const isSecret = secret === null ? () => false : createSecretCheck(requireSendable(secret))

  return async ({ headers: { authorization } }) => {
    const token = bearerToken(authorization)
    if (!token) throw notInternal()
    if (isSecret(token)) return { kind: 'secret' }
    if (!oidc) throw notInternal()
    return { kind: 'oidc', ...(await oidc.verify(authorization).catch(refuseBadToken)) }
  }
}

/** Whether the caller may have a statement computed. A wrong secret throws; a missing one is false (ATT-17). */
export type OracleCheck = (wire: Pick<WireRequest, 'headers'>) => boolean

/** Without a configured secret, every caller may. */
export function createOracleCheck(secret: string | null): OracleCheck {
  if (secret === null) return () => true
  const isSecret = createSecretCheck(secret)
  return ({ headers }) => {
    const shown = headers['x-oracle-secret']
    if (shown === undefined) return false
    if (typeof shown === 'string' && isSecret(shown)) return true
    throw new ServiceError('ORACLE_SECRET_INVALID', 'X-Oracle-Secret is incorrect', {
      hint: 'omit X-Oracle-Secret to read the existing attestation',
    })
  }
}

/**
 * Compares digests: they have the same length, and the duration of the comparison reveals nothing about the secret
 * (T-07).
 */
function createSecretCheck(secret: string): (shown: string) => boolean {
  const expected = digest(secret)
  return (shown) => timingSafeEqual(digest(shown), expected)
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function requireSendable(secret: string): string {
  if (bearerToken(`Bearer ${secret}`) === secret) return secret
  throw new RangeError('an internal caller secret that is not visible ASCII could never be sent')
}

/** A failure of the identity provider remains a 503, because schedulers retry that (INT-05). */
function refuseBadToken(error: unknown): never {
  throw error instanceof ServiceError && error.status < 500 ? notInternal() : error
}

function notInternal(): ServiceError {
  return new ServiceError('INTERNAL_AUTH_REQUIRED', 'this endpoint is for internal callers', {
    hint: 'send "Authorization: Bearer <credential>": the internal caller secret, or an OIDC token of an allowed service',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
