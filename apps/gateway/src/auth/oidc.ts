// Verifies JWTs of an identity provider and identifies the calling service.

import type { ErrorCode } from '@svc/api/errors'
import { readAtMost } from '@svc/protocol/read-at-most'
import { ServiceError } from '@svc/service/service-error'
import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTPayload, jwtVerify } from 'jose'
import { bearerToken } from './bearer-token.ts'

export interface OidcIdentity {
  /** The name on the allow-list. */
  service: string
  /** An address that the provider has verified. */
  email: string | null
  subject: string
}

export interface OidcVerifier {
  /** Verifies the `Authorization` header; throws unless it contains a token of an allowed service. */
  verify(authorization: string | undefined): Promise<OidcIdentity>
}

/** Tokens of one identity provider, for one audience. */
interface TokenSettings {
  /** Compared exactly: the names of some providers end in a slash. */
  issuer: string
  audience: string
  jwksUrl: string
  now: () => number
  /** The minimum interval between requests for the provider's keys, however many tokens name unknown keys. */
  jwksCooldownMs?: number
  jwksTimeoutMs?: number
}

interface OidcSettings extends TokenSettings {
  /** The allow-lists. An e-mail address counts only if the provider has verified it. */
  emails: readonly string[]
  subjects: readonly string[]
}

// No HMAC: anyone who knows the public key could sign with it.
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA']
const CLOCK_TOLERANCE_S = 30
const JWKS_CACHE_MS = 600_000
/** Enough for hundreds of keys. */
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
  /** The name of the kind in error messages. */
  kind: string
  requiredClaims: string[]
}

export interface TokenReader {
  /** Verifies the `Authorization` header; throws unless it contains a token that the issuer signed for the audience. */
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

/** jose spaces fetches only after a success, so it would query an unavailable provider for every token. */
function spacedFetch(spacingMs: number, now: () => number): FetchImplementation {
  let lastFetchAt = Number.NEGATIVE_INFINITY
  return async (url, options) => {
    // The absolute difference, because the clock may be set back.
    if (Math.abs(now() - lastFetchAt) < spacingMs) throw new Error('the identity provider was queried a moment ago')
    lastFetchAt = now()
    const { body, status, headers } = await fetch(url, options)
    return new Response(await readAtMost(MAX_JWKS_BYTES, body ?? []), { status, headers })
  }
}

/**
 * Each name is compared with its own list: in some providers a subject is free text and may equal another user's
 * address.
 */
function namesOf({ email, email_verified, sub }: JWTPayload) {
  return {
    email: email_verified === true && typeof email === 'string' && email !== '' ? email : null,
    subject: typeof sub === 'string' && sub !== '' ? sub : null,
  }
}

const TOKEN_FAULTS: Record<string, string> = {
  ERR_JWS_INVALID: 'is not a signed JWT',
  ERR_JWT_INVALID: 'contains no claims',
  ERR_JWT_EXPIRED: 'has expired',
  ERR_JOSE_ALG_NOT_ALLOWED: `is not signed with ${ALGORITHMS.join(', ')}`,
  ERR_JOSE_NOT_SUPPORTED: 'has an unsupported critical header',
  ERR_JWKS_NO_MATCHING_KEY: 'is signed with a key that its issuer does not publish',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'does not name its signing key (kid)',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'has an invalid signature',
}

/** The fault of the token; null when the provider failed. */
function tokenFault(error: unknown): string | null {
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'nbf' ? 'is not valid yet' : `has an invalid claim "${error.claim}"`
  }
  return error instanceof errors.JOSEError ? (TOKEN_FAULTS[error.code] ?? null) : null
}

function notAuthorized(service: string): ServiceError {
  return new ServiceError(
    'SERVICE_NOT_AUTHORIZED',
    'the token is valid, but its service is not allowed to make this request',
    {
      hint: "ask the gateway's admin to allow the service named in details",
      details: { service },
    },
  )
}

function providerUnavailable(cause: unknown, retryAfterMs: number): ServiceError {
  return new ServiceError(
    'identity_provider_unavailable',
    "the identity provider's keys are unavailable at the moment",
    {
      hint: 'the token was not checked; send the same request again in a few seconds',
      headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
      cause,
    },
  )
}
