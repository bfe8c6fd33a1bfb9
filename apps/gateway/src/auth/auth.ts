// Authenticates callers: signed envelopes, shared secrets, and tokens of identity providers.

import { createAudienceCheck } from '@svc/service/guard/audience'
import type { Context } from '../context.ts'
import { type Callers, createCallers } from './callers.ts'
import {
  createInternalCallerCheck,
  createOracleCheck,
  type InternalCallerCheck,
  type OracleCheck,
} from './internal-callers.ts'
import type { OidcVerifier, TokenReader } from './oidc.ts'
import type { AuthSecrets } from './settings.ts'

export interface Auth {
  /** Callers of signed requests. */
  callers: Callers
  isInternalCaller: InternalCallerCheck
  mayCompute: OracleCheck
  /** Null when no identity provider is configured, which disables sponsoring. */
  sponsors: OidcVerifier | null
  /** Null when no issuer of such tokens is configured. */
  receiptTokens: TokenReader | null
}

declare module '../context.ts' {
  interface Context {
    auth: Auth
  }
}

export async function openAuth(
  { config, database, rateLimiter, now, continuity }: Context,
  { internalSecret, oracleSecret }: AuthSecrets,
): Promise<{ auth: Auth }> {
  const { sponsors, internal, evidence, limits } = config
  const auth = {
    callers: createCallers({
      database,
      now,
      rateLimiter,
      perAddress: limits.perAddress,
      processes: config.processes,
      requireAudience: createAudienceCheck(config.mode, config.http.baseUrl),
      continuity,
    }),
    isInternalCaller: createInternalCallerCheck({
      mode: config.mode,
      secret: internalSecret,
      oidc: internal.oidc && (await loadOidc()).createOidcVerifier({ ...internal.oidc, now }),
    }),
    mayCompute: createOracleCheck(oracleSecret),
    sponsors: sponsors && (await loadOidc()).createOidcVerifier({ ...sponsors, now }),
    receiptTokens:
      evidence.tokens &&
      (await loadOidc()).createTokenReader(
        { ...evidence.tokens, now },
        { code: 'BEARER_TOKEN_INVALID', kind: 'token', requiredClaims: ['exp', 'receipt_id'] },
      ),
  }
  return { auth }
}

/** Loads the library on demand, because most gateways do not need it. */
function loadOidc(): Promise<typeof import('./oidc.ts')> {
  return import('./oidc.ts')
}
