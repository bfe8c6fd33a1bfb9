import type { Attestation } from '@svc/api/attestations'
import type { Simulation } from '@svc/api/evidence'
import { testClock } from '@svc/devnet/clock'
import { forAllTests } from '@svc/devnet/for-tests'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import { toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { attCode } from '@svc/protocol/ids'
import { expect, it } from 'vitest'
import { chainOfThree, openEvidenceGateway } from './evidence-gateway.ts'

const CODE = '/v1/attest-code'
const SIMULATE = '/v1/attest/simulate'
const BY_TOKEN = '/v1/attest-code/jwt'

const clock = testClock()
const issuer = forAllTests(() => startOidcIssuer({ now: clock.now }))
const instance = forAllTests(() =>
  openEvidenceGateway(
    {
      ATTEST_JWT: `issuer=${issuer.issuer},audience=${TEST_AUDIENCE},jwks=${issuer.jwksUrl}`,
    },
    { clock },
  ),
)

/** A receipt with a result hash of its own, as older gateways issued it. */
async function receiptWith(result_hash: string): Promise<string> {
  const { context } = instance.gateway
  const receipt = await seedReceipt(context, { owner: ed25519Identity().identity })
  await writable(context.database.db)
    .updateTable('receipts')
    .set({ receipt: JSON.stringify({ ...receipt, result_hash }) })
    .where('receipt_id', '=', receipt.receipt_id)
    .execute()
  return receipt.receipt_id
}

it('ATT-15 the gateway answers the code of the newest statement, or of the one with the given sequence', async () => {
  const locker = await chainOfThree(instance)
  const { receipt_id } = locker
  const { record } = await instance.state(locker)
  const { result_hash } = record
  const code = { receipt_id, att_code: attCode(result_hash), result_hash, source: 'attestation' }
  expect(await instance.get(CODE, { receipt_id })).toEqual(code)
  expect(await instance.get(CODE, { receipt_id, sequence: 4 })).toEqual(code)
  const codes = await Promise.all([1, 2, 3].map((sequence) => instance.get(CODE, { receipt_id, sequence })))
  expect(codes[2]).toEqual(code)
  expect(new Set(codes.map((of) => (of as { att_code: number }).att_code)).size).toBe(3)
})

it('ATT-15 prefers the result hash of the receipt, with or without its prefix', async () => {
  const hash = 'ab'.repeat(32)
  for (const written of [hash, `sha256:${hash}`]) {
    const receipt_id = await receiptWith(written)
    const result_hash = `sha256:${hash}`
    expect(await instance.get(CODE, { receipt_id })).toEqual({
      receipt_id,
      att_code: attCode(hash),
      result_hash,
      source: 'receipt',
    })
  }
})

it('ATT-15 ERR-07 the gateway answers 400 with a hint to attest when there is no result hash', async () => {
  for (const written of ['', 'none', 'sha256:', 'AB'.repeat(32)]) {
    const receipt_id = await receiptWith(written)
    const answer = await instance.read<{ hint: string }>(CODE, { receipt_id })
    expectRefusal(answer, 400, 'missing_result_hash_run_storage_verify_first')
    expect(answer.body.hint).toContain(`POST /v1/storage/attest?receipt_id=${receipt_id}`)
  }
})

it('ATT-12 ATT-13 simulates what publishing would write, and writes nothing', async () => {
  const { receipt_id } = await chainOfThree(instance)
  const before = await instance.get('/v1/storage/verify', { receipt_id })
  const { status, body } = await instance.send<Simulation>('POST', SIMULATE, { receipt_id })
  expect(status).toBe(200)
  const { attestation } = before as { attestation: { result_hash: string; envelope: EvidenceEnvelope } }
  const payload = anchorPayload(attestation.envelope)
  expect(body).toEqual({
    receipt_id,
    simulated: true,
    att_code: attCode(attestation.result_hash),
    result_hash: attestation.result_hash,
    would_write: {
      type: 'chain_memo_v2',
      payload,
      memo_bytes: anchorMemo(payload).length,
      signer: toBase58(instance.gateway.context.signers.publication.publicKey),
    },
    on_chain_write: false,
  })
  expect(JSON.stringify(payload)).not.toMatch(/rcpt_|\.txt/)
  expect(await instance.get('/v1/storage/verify', { receipt_id })).toEqual(before)
})

it('ATT-13 ERR-22 the gateway refuses to simulate before the first statement', async () => {
  const { receipt_id } = await instance.listed(1)
  expectRefusal(await instance.send('POST', SIMULATE, { receipt_id }), 409, 'attestation_not_available')
})

const read = (authorization?: string) =>
  instance.read<{ error?: string }>(BY_TOKEN, {}, authorization ? { authorization } : {})
const bearer = (...token: Parameters<OidcIssuer['token']>) => `Bearer ${issuer.token(...token)}`

it('ATT-14 the gateway answers the attestation and simulation of the receipt that a token names', async () => {
  const { receipt_id } = await chainOfThree(instance)
  const exp = Math.floor(instance.clock.now() / 1000) + 120
  const { status, body } = await read(bearer({ receipt_id, exp }))
  expect(status, JSON.stringify(body)).toBe(200)
  const { attestation } = await instance.get<{ attestation: Attestation }>('/v1/storage/verify', { receipt_id })
  const simulation = await instance.send<Simulation>('POST', '/v1/attest/simulate', { receipt_id })
  const { result_hash } = attestation
  const token = { iss: issuer.issuer, exp }
  const att_code = attCode(result_hash)
  expect(body).toEqual({ receipt_id, att_code, result_hash, attestation, simulation: simulation.body, token })
})

it('ATT-14 T-14 the gateway refuses every token that the issuer has not signed for this audience and a receipt', async () => {
  const { receipt_id } = await chainOfThree(instance)
  const bad: [string, string | undefined][] = [
    ['none', undefined],
    ['another audience', bearer({ receipt_id, aud: 'another' })],
    ['without a receipt', bearer()],
    ['with a number for a receipt', bearer({ receipt_id: 7 })],
    ['with a list for a receipt', bearer({ receipt_id: [receipt_id] })],
    ['with a null character', bearer({ receipt_id: '\0' })],
    ['with a lone surrogate', bearer({ receipt_id: '\ud800' })],
    ['unsigned', bearer({ receipt_id }, { forge: 'alg-none' })],
  ]
  for (const [what, authorization] of bad) {
    const answer = await read(authorization)
    expect([answer.status, answer.body.error], what).toEqual([401, 'BEARER_TOKEN_INVALID'])
    expect(answer.headers.get('www-authenticate'), what).toBe('Bearer')
  }
})

it('ATT-14 ERR-07 the gateway refuses tokens that name an unknown receipt or one without an attestation', async () => {
  expectRefusal(await read(bearer({ receipt_id: 'rcpt_none' })), 404, 'receipt_not_found')
  const { receipt_id: bare } = await instance.listed(1)
  expectRefusal(await read(bearer({ receipt_id: bare })), 400, 'missing_result_hash_run_storage_verify_first')
})

it('VER-15 the gateway answers a null simulation for a record of the oracle era', async () => {
  const locker = await instance.listed(2)
  await instance.stateAsOracle(locker)
  const { status, body } = await read(bearer({ receipt_id: locker.receipt_id }))
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ simulation: null, attestation: { file_count: 2 } })
})

it('ATT-14 T-10 the gateway refuses tokens with a hint where no issuer is configured, and counts them', async () => {
  const instance = await openEvidenceGateway({ RATE_LIMITS: 'address=2/min' })
  const answer = await instance.read<{ hint: string }>(BY_TOKEN, {}, { authorization: 'Bearer x.y.z' })
  expectRefusal(answer, 401, 'BEARER_TOKEN_INVALID')
  expect(answer.body.hint).toContain('ATTEST_JWT')
  for (const status of [401, 429]) expect((await instance.read(BY_TOKEN)).status).toBe(status)
  await instance.close()
})
