import type { Simulation } from '@svc/api/evidence'
import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import { toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { attCode } from '@svc/protocol/ids'
import { seedReceipt } from '@svc/testbed/seed-lockers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal } from '../auth/lockers.ts'
import { chainOfThree, type EvidenceHouse, openEvidenceHouse } from './evidence-house.ts'

const CODE = '/v1/attest-code'
const SIMULATE = '/v1/attest/simulate'

let house: EvidenceHouse
beforeAll(async () => {
  house = await openEvidenceHouse()
})
afterAll(() => house.close())

/** A receipt with a result hash, as older gateways issued them. */
async function receiptWith(result_hash: string): Promise<string> {
  const { context } = house.gateway
  const receipt = await seedReceipt(context, { owner: ed25519Identity().identity })
  await context.database.db
    .updateTable('receipts')
    .set({ receipt: JSON.stringify({ ...receipt, result_hash }) })
    .where('receipt_id', '=', receipt.receipt_id)
    .execute()
  return receipt.receipt_id
}

it('ATT-15 SHAPE-35 answers the code of the newest statement, or of the one with the given sequence', async () => {
  const locker = await chainOfThree(house)
  const { receipt_id } = locker
  const { record } = await house.state(locker)
  const { result_hash } = record
  const code = { receipt_id, att_code: attCode(result_hash), result_hash, source: 'attestation' }
  expect(await house.get(CODE, { receipt_id })).toEqual(code)
  expect(await house.get(CODE, { receipt_id, sequence: 4 })).toEqual(code)
  const codes = await Promise.all([1, 2, 3].map((sequence) => house.get(CODE, { receipt_id, sequence })))
  expect(codes[2]).toEqual(code)
  expect(new Set(codes.map((of) => (of as { att_code: number }).att_code)).size).toBe(3)
  expectRefusal(await house.read(CODE, { receipt_id, sequence: 5 }), 404, 'statement_not_found')
})

it('ATT-15 prefers the result hash of the receipt, with its prefix or without', async () => {
  const hash = 'ab'.repeat(32)
  for (const written of [hash, `sha256:${hash}`]) {
    const receipt_id = await receiptWith(written)
    const result_hash = `sha256:${hash}`
    expect(await house.get(CODE, { receipt_id })).toEqual({
      receipt_id,
      att_code: attCode(hash),
      result_hash,
      source: 'receipt',
    })
  }
})

it('ATT-15 ERR-07 AMB-40 answers 400 and says where to attest where there is no result hash', async () => {
  for (const written of ['', 'none', 'sha256:', 'AB'.repeat(32)]) {
    const receipt_id = await receiptWith(written)
    const answer = await house.read<{ hint: string }>(CODE, { receipt_id })
    expectRefusal(answer, 400, 'missing_result_hash_run_storage_verify_first')
    expect(answer.body.hint).toContain(`POST /v1/storage/attest?receipt_id=${receipt_id}`)
  }
  expectRefusal(await house.read(CODE, { receipt_id: 'rcpt_none' }), 404, 'receipt_not_found')
  expectRefusal(await house.read(CODE), 422, 'validation_error')
})

it('ATT-13 SHAPE-35 AMB-64 simulates what publishing would write, and writes nothing', async () => {
  const { receipt_id } = await chainOfThree(house)
  const before = await house.get('/v1/storage/verify', { receipt_id })
  const { status, body } = await house.send<Simulation>('POST', SIMULATE, { receipt_id })
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
      signer: toBase58(house.gateway.context.signers.publication.publicKey),
    },
    on_chain_write: false,
  })
  expect(JSON.stringify(payload)).not.toMatch(/rcpt_|\.txt/)
  expect(await house.get('/v1/storage/verify', { receipt_id })).toEqual(before)
})

it('ATT-13 ERR-22 refuses to simulate before the first statement', async () => {
  const { receipt_id } = await house.listed(1)
  expectRefusal(await house.send('POST', SIMULATE, { receipt_id }), 409, 'attestation_not_available')
  expectRefusal(await house.send('POST', SIMULATE, { receipt_id: 'rcpt_none' }), 404, 'receipt_not_found')
  expectRefusal(await house.send('POST', SIMULATE, {}), 422, 'validation_error')
})

it('T-10 counts simulations against the public rate limits', async () => {
  const limited = await openEvidenceHouse({ RATE_LIMIT_RECEIPT: '2' })
  const locker = await limited.listed(1)
  await limited.state(locker)
  const simulate = () => limited.send('POST', SIMULATE, { receipt_id: locker.receipt_id })
  for (const status of [200, 200, 429]) expect((await simulate()).status).toBe(status)
  await limited.close()
})
