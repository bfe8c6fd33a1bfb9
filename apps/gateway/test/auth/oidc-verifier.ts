// For tests: a verifier for the tokens of a local issuer, and the outcomes of its verifications.

import { type OidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { ServiceError } from '@svc/service/service-error'
import { createOidcVerifier, type OidcVerifier } from '../../src/auth/oidc.ts'

type Settings = Parameters<typeof createOidcVerifier>[0]

export function createTestVerifier(
  { issuer, jwksUrl }: OidcIssuer,
  settings: Pick<Settings, 'now'> & Partial<Settings>,
): OidcVerifier {
  const lists = { emails: ['sponsor@services.example'], subjects: ['sponsor'] }
  // Long enough for a busy machine.
  const jwksTimeoutMs = 60_000
  return createOidcVerifier({ issuer, jwksUrl, audience: TEST_AUDIENCE, ...lists, jwksTimeoutMs, ...settings })
}

/** The name of the service, or the code of the error. */
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
