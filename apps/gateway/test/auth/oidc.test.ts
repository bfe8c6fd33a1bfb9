import { forAllTests } from '@svc/devnet/for-tests'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { beforeEach, describe, expect, it } from 'vitest'
import { bearerToken } from '../../src/auth/bearer-token.ts'
import type { createOidcVerifier } from '../../src/auth/oidc.ts'
import { createTestVerifier, outcome, refusalOf } from './oidc-verifier.ts'

const START = Date.parse('2026-06-01T12:00:00Z')
const SECOND = 1000
let now = START
const issuer = forAllTests(() => startOidcIssuer({ now: () => now }))
beforeEach(() => {
  now = START
  issuer.answerJwks('keys')
})

function createVerifier(settings: Partial<Parameters<typeof createOidcVerifier>[0]> = {}) {
  const { verify } = createTestVerifier(issuer, { now: () => now, ...settings })
  return (token: string) => verify(`Bearer ${token}`)
}

describe('good tokens', () => {
  it.each(['RS256', 'ES256', 'EdDSA'] as const)('SPON-01 accepts %s tokens of an allowed service', async (alg) => {
    expect(await createVerifier()(issuer.token({}, { alg }))).toMatchObject({ service: 'sponsor' })
  })

  it('SPON-01 accepts a token with several audiences if one is ours', async () => {
    const token = issuer.token({ aud: ['another-service', TEST_AUDIENCE] })
    expect(await outcome(createVerifier()(token))).toBe('sponsor')
  })

  it('SPON-01 accepts a verified e-mail address of one list, or a subject of the other', async () => {
    const verify = createVerifier()
    const email = 'sponsor@services.example'
    const named = (claims: object) => outcome(verify(issuer.token({ sub: '1234', email, ...claims })))
    expect(await named({ email_verified: true })).toBe(email)
    for (const email_verified of [false, undefined, 'true', 1]) {
      expect(await named({ email_verified })).toBe('SERVICE_NOT_AUTHORIZED')
    }
    expect(await named({ sub: 'sponsor', email_verified: false })).toBe('sponsor')
    expect(await named({ sub: 'sponsor', email: undefined, email_verified: true })).toBe('sponsor')
    expect(await named({ sub: 'sponsor', email: 'other@services.example', email_verified: true })).toBe('sponsor')
  })

  it('SPON-01 tolerates 30 seconds of clock difference and no more', async () => {
    const verify = createVerifier()
    const token = issuer.token({ nbf: START / SECOND, exp: START / SECOND + 60 })
    const at = (seconds: number) => {
      now = START + seconds * SECOND
      return outcome(verify(token))
    }
    expect(await at(-31)).toBe('OIDC_TOKEN_INVALID')
    expect(await at(-30)).toBe('sponsor')
    expect(await at(89)).toBe('sponsor')
    expect(await at(90)).toBe('OIDC_TOKEN_INVALID')
  })
})

describe('services that are not allowed', () => {
  it('SPON-01 SPON-08 answers 403 with the name of the service and the contact to ask', async () => {
    const error = await refusalOf(createVerifier()(issuer.token({ sub: 'unlisted' })))
    expect(error.status).toBe(403)
    expect(error.body('r')).toMatchObject({
      error: 'SERVICE_NOT_AUTHORIZED',
      details: { service: 'unlisted' },
      hint: expect.stringContaining("ask the gateway's admin"),
    })
  })

  it('T-14 SPON-01 refuses a subject that equals an allowed address, and an address that equals an allowed subject', async () => {
    const verify = createVerifier()
    const email = 'sponsor@services.example'
    for (const claims of [
      { sub: email },
      { sub: email, email, email_verified: false },
      { sub: email, email: 'mallory@services.example', email_verified: true },
      { sub: '1234', email: 'sponsor', email_verified: true },
      { sub: '1234', email: ['sponsor@services.example'], email_verified: true },
    ]) {
      expect(await outcome(verify(issuer.token(claims))), JSON.stringify(claims)).toBe('SERVICE_NOT_AUTHORIZED')
    }
  })
})

describe('bad tokens', () => {
  const seconds = START / SECOND
  it.each<[string, Record<string, unknown>, Parameters<OidcIssuer['token']>[1]]>([
    ['expired', { exp: seconds - 60 }, {}],
    ['not yet valid', { nbf: seconds + 60 }, {}],
    ['of another issuer', { iss: 'https://accounts.evil.example' }, {}],
    ['for another audience', { aud: 'another-service' }, {}],
    ['for an audience that contains ours', { aud: `${TEST_AUDIENCE}-2` }, {}],
    ['for no audience', { aud: undefined }, {}],
    ['without an expiry', { exp: undefined }, {}],
    ['without an issue time', { iat: undefined }, {}],
    ['with an empty subject', { sub: '' }, {}],
    ['with a list for a subject', { sub: ['sponsor'] }, {}],
    ['signed with a key that is not published', {}, { forge: 'unpublished-key' }],
    ['signed with a key of its own header', {}, { forge: 'embedded-key' }],
    ['not signed at all', {}, { forge: 'alg-none' }],
    ['signed with the public key as an HMAC secret', {}, { forge: 'hmac-of-public-key' }],
    ['whose algorithm differs from that of its key', {}, { header: { alg: 'PS256' } }],
    ['with an unknown critical header', {}, { header: { crit: ['x'], x: 1 } }],
  ])('SPON-01 T-14 answers 401 to a token %s', async (_, claims, options) => {
    const token = issuer.token(claims, options)
    const error = await refusalOf(createVerifier({ jwksCooldownMs: 0 })(token))
    expect([error.code, error.status, error.headers['www-authenticate']]).toEqual(['OIDC_TOKEN_INVALID', 401, 'Bearer'])
    const body = JSON.stringify(error.body('r'))
    expect(body).toContain(`audience ${TEST_AUDIENCE}`)
    for (const part of token.split('.')) if (part) expect(body).not.toContain(part)
  })

  it('SPON-01 reads a token of 10 kB, and refuses one of 100 kB without fetching keys', async () => {
    const padded = (length: number) => outcome(createVerifier()(issuer.token({ padding: 'x'.repeat(length) })))
    expect(await padded(7500)).toBe('sponsor')
    const requests = issuer.jwksRequests
    expect(await padded(75_000)).toBe('OIDC_TOKEN_INVALID')
    expect(issuer.jwksRequests).toBe(requests)
  })
})

describe('the Authorization header', () => {
  it.each(['Bearer a.b-c_d', 'bEaReR    a.b-c_d'])('SPON-01 finds a token in the header %j', (header) =>
    expect(bearerToken(header)).toBe('a.b-c_d'),
  )

  it.each([
    undefined,
    'Bearer ',
    'Bearer\ta',
    'Bearera',
    ' Bearer a',
    'Bearer a b',
    'Bearer a\n',
    'Bearer é',
    'Basic dXNlcjpwYXNz',
    'a.b.c',
  ])('SPON-01 finds no token in the header %j', (header) => expect(bearerToken(header)).toBeNull())
})

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

  it('T-14 asks a provider that is down once per interval, even after the clock is set back', async () => {
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
