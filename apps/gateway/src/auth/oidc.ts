// Reads JWTs that an identity provider signed, and says which service is calling.

import type { ErrorCode } from '@svc/api/errors'
import { readAtMost } from '@svc/protocol/read-at-most'
import { ServiceError } from '@svc/service/service-error'
import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTPayload, jwtVerify } from 'jose'
import { bearerToken } from './bearer-token.ts'

export interface OidcIdentity {
  /** The name by which it is allowed. */
  service: string
  /** An address that the provider has verified. */
  email: string | null
  subject: string
}

export interface OidcVerifier {
  /** Takes the `Authorization` header; throws unless it holds a token of an allowed service. */
  verify(authorization: string | undefined): Promise<OidcIdentity>
}

/** Tokens of one identity provider, for one audience. */
interface TokenSettings {
  /** Compared exactly: the names of some providers end in a slash. */
  issuer: string
  audience: string
  jwksUrl: string
  now: () => number
  /** The time between two requests for the provider's keys, however many tokens name unknown keys. */
  jwksCooldownMs?: number
  jwksTimeoutMs?: number
}

interface OidcSettings extends TokenSettings {
  /** The allow-lists. An e-mail address counts where the provider has verified it. */
  emails: readonly string[]
  subjects: readonly string[]
}

// No HMAC: anybody who knows a public key could sign with it.
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA']
const CLOCK_TOLERANCE_S = 30
const JWKS_CACHE_MS = 600_000
/** Hundreds of keys. */
const MAX_JWKS_BYTES = 1_048_576

export function createOidcVerifier(settings: OidcSettings): OidcVerifier {
  const [emails, subjects] = [new Set(settings.emails), new Set(settings.subjects)]
  const { readClaims, invalid } = createTokenReader(settings, {
    code: 'OIDC_TOKEN_INVALID',
    kind: 'OIDC token',
    requiredClaims: ['exp', 'iat', 'sub'],
  })
  return {
    async verify(authorization) {
      const { email, subject } = namesOf(await readClaims(authorization))
      if (subject === null) throw invalid('names no service')
      if (email !== null && emails.has(email)) return { service: email, email, subject }
      if (subjects.has(subject)) return { service: subject, email, subject }
      throw notAuthorized(email ?? subject)
    },
  }
}

interface TokenKind {
  code: ErrorCode
  /** As error messages name it. */
  kind: string
  requiredClaims: string[]
}

export interface TokenReader {
  /** Takes the `Authorization` header; throws unless it holds a token that the issuer signed for the audience. */
  readClaims(authorization: string | undefined): Promise<JWTPayload>
  /** The error for a token with a fault: "the token {fault}". */
  invalid(fault: string): ServiceError
}

export function createTokenReader(settings: TokenSettings, { code, kind, requiredClaims }: TokenKind): TokenReader {
  const { issuer, audience, now, jwksCooldownMs = 5000, jwksTimeoutMs = 5000 } = settings
  const keys = createRemoteJWKSet(new URL(settings.jwksUrl), {
    timeoutDuration: jwksTimeoutMs,
    cooldownDuration: jwksCooldownMs,
    cacheMaxAge: JWKS_CACHE_MS,
    [customFetch]: spacedFetch(jwksCooldownMs, now),
  })

  function invalid(fault: string): ServiceError {
    return new ServiceError(code, `the ${kind} ${fault}`, {
      hint: `send "Authorization: Bearer <token>" with a fresh token of ${issuer} for the audience ${audience}`,
      headers: { 'www-authenticate': 'Bearer' },
    })
  }

  return {
    invalid,
    async readClaims(authorization) {
      const token = bearerToken(authorization)
      if (!token) throw invalid('is missing')
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          requiredClaims,
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: new Date(now()),
        })
        return payload
      } catch (error) {
        const fault = tokenFault(error)
        throw fault ? invalid(fault) : providerUnavailable(error, jwksCooldownMs)
      }
    },
  }
}

/** jose waits between fetches only after a success, so it would ask a provider that is down again for every token. */
function spacedFetch(spacingMs: number, now: () => number): FetchImplementation {
  let askedAt = Number.NEGATIVE_INFINITY
  return async (url, options) => {
    // The absolute difference, because the clock may be set back.
    if (Math.abs(now() - askedAt) < spacingMs) throw new Error('the identity provider was asked a moment ago')
    askedAt = now()
    const { body, status, headers } = await fetch(url, options)
    return new Response(await readAtMost(MAX_JWKS_BYTES, body ?? []), { status, headers })
  }
}

/** Each name is compared with its own list: a subject is free text in some providers, and may be somebody's address. */
function namesOf({ email, email_verified, sub }: JWTPayload) {
  return {
    email: email_verified === true && typeof email === 'string' && email !== '' ? email : null,
    subject: typeof sub === 'string' && sub !== '' ? sub : null,
  }
}

const TOKEN_FAULTS: Record<string, string> = {
  ERR_JWS_INVALID: 'is not a signed JWT',
  ERR_JWT_INVALID: 'holds no claims',
  ERR_JWT_EXPIRED: 'has expired',
  ERR_JOSE_ALG_NOT_ALLOWED: `is not signed with ${ALGORITHMS.join(', ')}`,
  ERR_JOSE_NOT_SUPPORTED: 'has a critical header that is not known here',
  ERR_JWKS_NO_MATCHING_KEY: 'is signed with a key that its issuer does not publish',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'does not say with which key (kid) it is signed',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'has a wrong signature',
}

/** The fault of the token; null where the provider failed. */
function tokenFault(error: unknown): string | null {
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'nbf' ? 'is not valid yet' : `has no good claim "${error.claim}"`
  }
  return error instanceof errors.JOSEError ? (TOKEN_FAULTS[error.code] ?? null) : null
}

function notAuthorized(service: string): ServiceError {
  return new ServiceError('SERVICE_NOT_AUTHORIZED', 'the token is good, but its service is not allowed to call this', {
    hint: 'ask the operator of this gateway to allow the service named in details',
    details: { service },
  })
}

function providerUnavailable(cause: unknown, retryAfterMs: number): ServiceError {
  return new ServiceError('identity_provider_unavailable', "the identity provider's keys cannot be had at the moment", {
    hint: 'the token was not looked at; send the same request again in a few seconds',
    headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
    cause,
  })
}
