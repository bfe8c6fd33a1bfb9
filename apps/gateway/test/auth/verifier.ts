// For tests: a verifier of a local issuer's tokens, and what becomes of a verification.

import { type OidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { ServiceError } from '@svc/http-service/service-error'
import { createOidcVerifier, type OidcVerifier } from '../../src/auth/oidc.ts'

type Settings = Parameters<typeof createOidcVerifier>[0]

export function createTestVerifier(
  { issuer, jwksUrl }: OidcIssuer,
  settings: Pick<Settings, 'now'> & Partial<Settings>,
): OidcVerifier {
  const allowedServices = ['sponsor', 'sponsor@services.example']
  // Longer than keys take on a machine that has other things to do.
  const jwksTimeoutMs = 60_000
  return createOidcVerifier({ issuer, jwksUrl, audience: TEST_AUDIENCE, allowedServices, jwksTimeoutMs, ...settings })
}

/** The code of the refusal; the service where there is none. */
export async function outcome(verification: Promise<{ service: string }>): Promise<string> {
  return verification.then(
    ({ service }) => service,
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  )
}

export async function refusalOf(verification: Promise<unknown>): Promise<ServiceError> {
  const error = await verification.catch((error: unknown) => error)
  if (error instanceof ServiceError) return error
  throw new Error('there was no refusal', { cause: error })
}
