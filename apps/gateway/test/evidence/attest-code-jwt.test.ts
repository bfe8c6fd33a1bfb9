import type { Attestation } from '@svc/api/attestations'
import type { Simulation } from '@svc/api/evidence'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { attCode } from '@svc/protocol/ids'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectRefusal } from '../auth/lockers.ts'
import { chainOfThree, type EvidenceHouse, openEvidenceHouse } from './evidence-house.ts'

const BY_TOKEN = '/v1/attest-code/jwt'
const OPENING_TIME = Date.UTC(2026, 8, 1, 12)

interface ByToken {
  receipt_id: string
  att_code: number
  result_hash: string
  attestation: Attestation
  simulation: Simulation | null
  token: { iss: string; exp: number }
}

describe('codes by token', () => {
  let house: EvidenceHouse
  let issuer: OidcIssuer
  let receipt_id: string
  beforeAll(async () => {
    issuer = await startOidcIssuer({ now: () => house?.clock.now() ?? OPENING_TIME })
    house = await openEvidenceHouse({
      ATTEST_JWT_ISSUER: issuer.issuer,
      ATTEST_JWT_AUDIENCE: TEST_AUDIENCE,
      ATTEST_JWT_JWKS_URL: issuer.jwksUrl,
    })
    receipt_id = (await chainOfThree(house)).receipt_id
  })
  afterAll(async () => {
    await house.close()
    await issuer.stop()
  })
  const read = (authorization?: string) => house.read<ByToken>(BY_TOKEN, {}, authorization ? { authorization } : {})
  const bearer = (...token: Parameters<OidcIssuer['token']>) => `Bearer ${issuer.token(...token)}`

  it.each(['RS256', 'ES256', 'EdDSA'] as const)(
    'ATT-14 AMB-77 SHAPE-35 answers the attestation and simulation of the receipt that a token names (%s)',
    async (alg) => {
      const exp = Math.floor(house.clock.now() / 1000) + 120
      const { status, body } = await read(bearer({ receipt_id, exp }, { alg }))
      expect(status, JSON.stringify(body)).toBe(200)
      const { attestation } = await house.get<{ attestation: Attestation }>('/v1/storage/verify', { receipt_id })
      const simulation = await house.send<Simulation>('POST', '/v1/attest/simulate', { receipt_id })
      expect(body).toEqual({
        receipt_id,
        att_code: attCode(attestation.result_hash),
        result_hash: attestation.result_hash,
        attestation,
        simulation: simulation.body,
        token: { iss: issuer.issuer, exp },
      })
    },
  )

  it('AMB-77 T-14 refuses every token that the issuer did not sign for this audience and a receipt', async () => {
    const bad: [string, string | undefined][] = [
      ['none', undefined],
      ['another scheme', `Basic ${issuer.token({ receipt_id })}`],
      ['garbage', 'Bearer x.y.z'],
      ['another audience', bearer({ receipt_id, aud: 'another' })],
      ['another issuer', bearer({ receipt_id, iss: 'https://another.example' })],
      ['expired', bearer({ receipt_id, exp: Math.floor(house.clock.now() / 1000) - 60 })],
      ['without an end', bearer({ receipt_id, exp: undefined })],
      ['without a receipt', bearer()],
      ['with a number for a receipt', bearer({ receipt_id: 7 })],
      ['with a list for a receipt', bearer({ receipt_id: [receipt_id] })],
      ['unsigned', bearer({ receipt_id }, { forge: 'alg-none' })],
      ['signed by HMAC with the public key', bearer({ receipt_id }, { forge: 'hmac-of-public-key' })],
      ['signed by a key it brings along', bearer({ receipt_id }, { forge: 'embedded-key' })],
    ]
    for (const [what, authorization] of bad) {
      const answer = await read(authorization)
      expect([answer.status, (answer.body as { error?: string }).error], what).toEqual([401, 'BEARER_TOKEN_INVALID'])
      expect(answer.headers.get('www-authenticate'), what).toBe('Bearer')
    }
  })

  it('ATT-14 ERR-07 refuses tokens that name an unknown receipt or one without an attestation', async () => {
    expectRefusal(await read(bearer({ receipt_id: 'rcpt_none' })), 404, 'receipt_not_found')
    expectRefusal(await read(bearer({ receipt_id: '\0' })), 401, 'BEARER_TOKEN_INVALID')
    expectRefusal(await read(bearer({ receipt_id: '\ud800' })), 401, 'BEARER_TOKEN_INVALID')
    const { receipt_id: bare } = await house.listed(1)
    expectRefusal(await read(bearer({ receipt_id: bare })), 400, 'missing_result_hash_run_storage_verify_first')
  })

  it('VER-15 answers a null simulation for a record of the oracle era', async () => {
    const locker = await house.listed(2)
    await house.stateAsOracle(locker)
    const { status, body } = await read(bearer({ receipt_id: locker.receipt_id }))
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ simulation: null, attestation: { file_count: 2 } })
  })
})

it('AMB-77 refuses tokens with a hint where no token issuer is configured', async () => {
  const house = await openEvidenceHouse()
  const answer = await house.read<{ hint: string }>(BY_TOKEN, {}, { authorization: 'Bearer x.y.z' })
  expectRefusal(answer, 401, 'BEARER_TOKEN_INVALID')
  expect(answer.body.hint).toContain('ATTEST_JWT_ISSUER')
  await house.close()
})

it('T-10 counts token requests against the public rate limits', async () => {
  const house = await openEvidenceHouse({ RATE_LIMIT_ADDRESS: '2' })
  for (const status of [401, 401, 429]) expect((await house.read(BY_TOKEN)).status).toBe(status)
  await house.close()
})
