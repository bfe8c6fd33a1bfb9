// Tokens of a local identity provider. A fuzz example is a token, or JSON with a header and claims to be signed.

import { startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { json, latin1, must } from '@svc/devnet/properties/rules'
import { ServiceError } from '@svc/service/service-error'
import { expect, it, onTestFinished } from 'vitest'
import { createOidcVerifier } from '../../src/auth/oidc.ts'

const EMAIL = 'sponsor@services.example'
const REFUSALS: readonly string[] = ['OIDC_TOKEN_INVALID', 'SERVICE_NOT_AUTHORIZED']

it('T-129 T-52 no made-up input breaks the rules of tokens of an identity provider', async () => {
  const { issuer, jwksUrl, token, stop } = await startOidcIssuer()
  const lists = { emails: [EMAIL], subjects: ['sponsor'] }
  // Long enough for a busy machine.
  const times = { now: Date.now, jwksTimeoutMs: 60_000 }
  const verifier = createOidcVerifier({ issuer, jwksUrl, audience: TEST_AUDIENCE, ...lists, ...times })

  /** The name of the service if the token is accepted. */
  async function verify(authorization: string): Promise<string | null> {
    try {
      return (await verifier.verify(authorization)).service
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      must(REFUSALS.includes(error.code), `a token is answered with ${error.code}`)
      return null
    }
  }

  onTestFinished(stop)
  expect(
    await problemWith({
      examples: [
        token({}, { alg: 'EdDSA' }),
        token({}, { alg: 'ES256' }),
        JSON.stringify({ header: { typ: 'JWT' }, claims: { sub: 'sponsor', exp: 4_000_000_000 } }),
        JSON.stringify({ header: {}, claims: { sub: '1', email: EMAIL, email_verified: true, aud: [TEST_AUDIENCE] } }),
      ],
      words: [
        ...'. .. alg none HS256 RS256 ES256 kid crit b64 typ JWT exp nbf iat aud iss sub sponsor eyJhbGciOiJub25lIn0 jwk x5c zip DEF cty'.split(
          ' ',
        ),
        EMAIL,
        issuer,
      ],
      isJson: true,
      maxBytes: 8192,
      async rule(input) {
        await verify(`Bearer ${latin1(input)}`)
        const example = json(input) as { header?: unknown; claims?: unknown } | null | undefined
        const { header, claims } = { ...example }
        if (typeof header !== 'object' || typeof claims !== 'object') return
        const given = claims as Record<string, unknown> | null
        const service = await verify(`Bearer ${token({ ...given }, { alg: 'EdDSA', header: { ...header } })}`)
        if (service === null || service === 'sponsor') return
        must(
          service === EMAIL && given?.email_verified === true && given.email === EMAIL,
          'the token names another service',
        )
      },
    }),
  ).toBeNull()
})
