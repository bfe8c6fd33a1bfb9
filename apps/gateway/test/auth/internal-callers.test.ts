import { type OidcIssuer, startOidcIssuer } from '@svc/devnet/oidc-issuer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInternalCallerCheck, type InternalCallerCheck } from '../../src/auth/internal-callers.ts'
import type { OidcVerifier } from '../../src/auth/oidc.ts'
import { createTestVerifier } from './oidc-verifier.ts'

const SECRET = 'p3:/+=~internal-caller-secret!'
let issuer: OidcIssuer
let oidc: OidcVerifier
beforeAll(async () => {
  issuer = await startOidcIssuer()
  oidc = createVerifier(issuer)
})
afterAll(() => issuer.stop())

const createVerifier = (issuer: OidcIssuer) =>
  createTestVerifier(issuer, { emails: [], subjects: ['scheduler'], now: Date.now })

function wire(authorization?: string): Pick<WireRequest, 'headers'> {
  return { headers: authorization === undefined ? {} : { authorization } }
}

async function outcome(check: InternalCallerCheck, authorization?: string): Promise<string> {
  return check(wire(authorization)).then(
    () => 'let in',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  )
}

describe('the shared secret', () => {
  const check = createInternalCallerCheck({ mode: 'production', secret: SECRET, oidc: null })

  it('INT-06 accepts the shared secret', async () => {
    expect(await outcome(check, `Bearer ${SECRET}`)).toBe('let in')
  })

  it.each([undefined, SECRET, `Basic ${SECRET}`, `Bearer ${SECRET.slice(0, -1)}`, `Bearer ${SECRET}!`])(
    'INT-06 T-07 refuses the header %j',
    async (header) => expect(await outcome(check, header)).toBe('INTERNAL_AUTH_REQUIRED'),
  )

  it('INT-06 refuses with a 401 that says what to send and does not reveal the secret', async () => {
    const error = (await check(wire('Bearer wrong')).catch((error: unknown) => error)) as ServiceError
    expect([error.status, error.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    const { hint } = error.body('r')
    expect(hint).toContain('Authorization: Bearer')
    expect(JSON.stringify(error.body('r'))).not.toContain(SECRET)
  })

  it('INT-06 requires the secret in development too once it is set', async () => {
    const check = createInternalCallerCheck({ mode: 'development', secret: SECRET, oidc: null })
    expect(await outcome(check)).toBe('INTERNAL_AUTH_REQUIRED')
    expect(await outcome(check, `Bearer ${SECRET}`)).toBe('let in')
  })

  it.each(['', ' ', 'two words', 'schlüssel', 'line\n'])('T-26 refuses to start with %j as the secret', (secret) => {
    const create = () => createInternalCallerCheck({ mode: 'development', secret, oidc: null })
    expect(create).toThrow('visible ASCII')
  })
})

describe('tokens of the identity provider', () => {
  const check: InternalCallerCheck = (request) =>
    createInternalCallerCheck({ mode: 'production', secret: SECRET, oidc })(request)
  const bearer = (...parameters: Parameters<OidcIssuer['token']>) => `Bearer ${issuer.token(...parameters)}`

  it('INT-06 accepts a token of an allowed service, with a secret configured or without', async () => {
    const withoutSecret = createInternalCallerCheck({ mode: 'production', secret: null, oidc })
    expect(await outcome(check, bearer({ sub: 'scheduler' }))).toBe('let in')
    expect(await outcome(check, `Bearer ${SECRET}`)).toBe('let in')
    expect(await outcome(withoutSecret, bearer({ sub: 'scheduler' }))).toBe('let in')
    expect(await outcome(withoutSecret, `Bearer ${SECRET}`)).toBe('INTERNAL_AUTH_REQUIRED')
    expect(await outcome(withoutSecret)).toBe('INTERNAL_AUTH_REQUIRED')
  })

  it('INT-06 T-26 answers 401 to tokens of other services and to expired or forged ones', async () => {
    const refused = [
      bearer({ sub: 'sponsor' }),
      bearer({ sub: 'scheduler', exp: 1 }),
      bearer({ sub: 'scheduler' }, { forge: 'alg-none' }),
      bearer({ sub: 'scheduler' }, { forge: 'hmac-of-public-key' }),
    ]
    for (const header of refused) expect(await outcome(check, header)).toBe('INTERNAL_AUTH_REQUIRED')
  })

  it('INT-05 answers 503 to tokens while the identity provider is down, and still accepts the secret', async () => {
    const gone = await startOidcIssuer()
    await gone.stop()
    const check = createInternalCallerCheck({ mode: 'production', secret: SECRET, oidc: createVerifier(gone) })
    expect(await outcome(check, `Bearer ${gone.token({ sub: 'scheduler' })}`)).toBe('identity_provider_unavailable')
    expect(await outcome(check, `Bearer ${SECRET}`)).toBe('let in')
    expect(await outcome(check, 'Bearer a-wrong-secret')).toBe('INTERNAL_AUTH_REQUIRED')
  })
})

describe('with nothing configured', () => {
  it('INT-06 accepts every caller in development mode, even with a wrong header', async () => {
    const check = createInternalCallerCheck({ mode: 'development', secret: null, oidc: null })
    expect(await outcome(check)).toBe('let in')
    expect(await outcome(check, 'Bearer anything')).toBe('let in')
  })

  it('T-26 refuses every caller in production', async () => {
    const check = createInternalCallerCheck({ mode: 'production', secret: null, oidc: null })
    const headers = [undefined, 'Bearer', 'Bearer null', 'Bearer undefined', `Bearer ${SECRET}`]
    for (const header of headers) expect(await outcome(check, header)).toBe('INTERNAL_AUTH_REQUIRED')
  })
})
