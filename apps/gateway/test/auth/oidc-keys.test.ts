import { type OidcIssuer, startOidcIssuer } from '@svc/devnet/oidc-issuer'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestVerifier, outcome, refusalOf } from './oidc-verifier.ts'

const START = Date.parse('2026-06-01T12:00:00Z')
const SECOND = 1000
let now = START
let issuer: OidcIssuer
beforeAll(async () => {
  issuer = await startOidcIssuer({ now: () => now })
})
afterAll(() => issuer.stop())
beforeEach(() => {
  now = START
  issuer.answerJwks('keys')
})

function createVerifier(times: { jwksCooldownMs?: number; jwksTimeoutMs?: number } = {}, provider = issuer) {
  const { verify } = createTestVerifier(provider, { now: () => now, ...times })
  return (token: string) => verify(`Bearer ${token}`)
}

async function jwksRequestsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = issuer.jwksRequests
  await work()
  return issuer.jwksRequests - before
}

describe('the keys of the identity provider', () => {
  it('SPON-01 fetches the keys of the provider once for 20 concurrent tokens, and caches them', async () => {
    const verify = createVerifier({ jwksCooldownMs: 0 })
    const requests = await jwksRequestsDuring(async () => {
      const all = await Promise.all(Array.from({ length: 20 }, () => verify(issuer.token())))
      expect(all).toHaveLength(20)
      await verify(issuer.token())
    })
    expect(requests).toBe(1)
  })

  it('SPON-01 fetches the keys again for a token with a new key, and then refuses the old key', async () => {
    const verify = createVerifier({ jwksCooldownMs: 0 })
    const old = issuer.token()
    expect(await outcome(verify(old))).toBe('sponsor')
    issuer.rotateKeys()
    expect(await outcome(verify(old))).toBe('sponsor')
    expect(await outcome(verify(issuer.token()))).toBe('sponsor')
    expect(await outcome(verify(old))).toBe('OIDC_TOKEN_INVALID')
  })

  it('T-14 does not fetch the keys for every token that names an unknown key', async () => {
    const verify = createVerifier({ jwksCooldownMs: 60 * SECOND })
    const requests = await jwksRequestsDuring(async () => {
      await verify(issuer.token())
      for (let i = 0; i < 50; i++) {
        const token = issuer.token({}, { alg: 'EdDSA', header: { kid: `unknown-${i}` } })
        expect(await outcome(verify(token))).toBe('OIDC_TOKEN_INVALID')
      }
    })
    expect(requests).toBe(1)
  })

  it('T-14 does not fetch the keys for tokens that cannot be valid', async () => {
    const verify = createVerifier()
    const requests = await jwksRequestsDuring(async () => {
      for (const forge of ['alg-none', 'hmac-of-public-key'] as const)
        await outcome(verify(issuer.token({}, { forge })))
      await outcome(verify('not-a-token'))
    })
    expect(requests).toBe(0)
  })
})

describe('an identity provider that is down', () => {
  it.each(['error', 'garbage', 'redirect', 'silence'] as const)(
    'SPON-01 answers 503 while the provider answers with %s, and recovers',
    async (answer) => {
      const verify = createVerifier({ jwksTimeoutMs: 300 })
      issuer.answerJwks(answer)
      const error = await refusalOf(verify(issuer.token()))
      expect([error.code, error.status]).toEqual(['identity_provider_unavailable', 503])
      expect(error.headers['retry-after']).toBe('5')
      issuer.answerJwks('keys')
      const later = () => {
        now += 5 * SECOND
        return outcome(verify(issuer.token()))
      }
      await expect.poll(later).toBe('sponsor')
    },
  )

  it('T-14 asks a provider that is down once per interval, also after the clock is set back', async () => {
    const verify = createVerifier()
    issuer.answerJwks('error')
    const attempt = () => outcome(verify(issuer.token()))
    const tenAttempts = async () => {
      for (let i = 0; i < 10; i++) expect(await attempt()).toBe('identity_provider_unavailable')
    }
    expect(await jwksRequestsDuring(tenAttempts)).toBe(1)
    now += 5 * SECOND
    expect(await jwksRequestsDuring(tenAttempts)).toBe(1)
    now -= 3600 * SECOND
    expect(await jwksRequestsDuring(tenAttempts)).toBe(1)
  })

  it('SPON-01 accepts tokens of cached keys while the provider is down', async () => {
    const verify = createVerifier({ jwksCooldownMs: 0 })
    await verify(issuer.token())
    issuer.answerJwks('error')
    expect(await outcome(verify(issuer.token()))).toBe('sponsor')
    expect(await outcome(verify(issuer.token({}, { forge: 'unpublished-key' })))).toBe('identity_provider_unavailable')
    expect(await outcome(verify(issuer.token()))).toBe('sponsor')
  })
})
