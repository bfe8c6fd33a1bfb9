import { hash } from 'node:crypto'
import type { Retrieved } from '@svc/api/evidence'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { PRODUCTION, WITHOUT_PRIMARY } from '@svc/devnet/services/market'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { resultHash } from '@svc/protocol/attestation'
import { attCode, paymentAttCode } from '@svc/protocol/ids'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { createLog } from '@svc/service/program/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import vectors from '../../../../../vectors/protocol.json' with { type: 'json' }
import { insertReceipt } from '../../../src/purchases/store.ts'
import { type EvidenceGateway, openEvidenceGateway } from './evidence-gateway.ts'

const RETRIEVE = '/v1/retrieve'
const SECRET = 'the-secret-of-all-the-oracles'
const AS_ORACLE = { 'x-oracle-secret': SECRET }

describe('retrieve', () => {
  let instance: EvidenceGateway
  beforeAll(async () => {
    instance = await openEvidenceGateway({ ORACLE_CALLBACK_SECRET: SECRET })
  })
  afterAll(() => instance.close())

  it('ATT-16 ATT-19 answers code, hashes, manifest, anchor and facts to any caller', async () => {
    const locker = await instance.filled({ 'b.txt': 'two', 'a.txt': 'one' })
    const { record } = await instance.state(locker)
    const { manifest, verification, ...answer } = await instance.get<Retrieved>(RETRIEVE, {
      receipt_id: locker.receipt_id,
    })
    const { result_hash, merkle_root } = record
    expect(answer).toEqual({
      receipt_id: locker.receipt_id,
      att_code: attCode(result_hash),
      result_hash,
      merkle_root,
      attestation_status: 'computed',
      anchor: null,
    })
    const { files, ...counted } = manifest
    expect(counted).toEqual({ locker_id: locker.locker_id, file_count: 2, total_bytes: 6 })
    expect(files).toEqual([
      { filename: 'a.txt', size_bytes: 3, content_hash: `sha256:${hash('sha256', 'one')}` },
      { filename: 'b.txt', size_bytes: 3, content_hash: `sha256:${hash('sha256', 'two')}` },
    ])
    expect(merkle_root).toBe(`sha256:${merkleRoot(files.map(leafHash))}`)
    expect(result_hash).toBe(resultHash(locker.locker_id, files))
    expect(verification).toMatchObject({ signature_valid: 'passed', anchor_confirmed: 'not_checked' })
  })

  it('ATT-17 computes a missing statement only for a caller with the secret, and answers an existing one to any caller', async () => {
    const { receipt_id } = await instance.filled({ 'a.txt': 'one' })
    const refused = await instance.read<{ hint: string }>(RETRIEVE, { receipt_id })
    expectRefusal(refused, 409, 'attestation_not_available')
    expect(refused.body.hint).toContain('POST /v1/storage/attest')
    for (const wrong of ['', 'x', `${SECRET}x`, SECRET.slice(1), SECRET.toUpperCase()]) {
      const answer = await instance.read(RETRIEVE, { receipt_id }, { 'x-oracle-secret': wrong })
      expectRefusal(answer, 403, 'ORACLE_SECRET_INVALID')
    }
    const computed = await instance.read<Retrieved>(RETRIEVE, { receipt_id }, AS_ORACLE)
    expect(computed).toMatchObject({ status: 200, body: { manifest: { file_count: 1 }, anchor: null } })
    for (const anySecret of [{}, { 'x-oracle-secret': 'wrong' }])
      expect((await instance.read<Retrieved>(RETRIEVE, { receipt_id }, anySecret)).body).toEqual(computed.body)
  })

  it('ATT-17 ATT-21 refuses to compute a statement without files, a locker or a known receipt', async () => {
    const empty = await instance.listed(0)
    expectRefusal(await instance.read(RETRIEVE, { receipt_id: empty.receipt_id }, AS_ORACLE), 409, 'EMPTY_FILE_LIST')
    const { receipt_id } = await seedReceipt(instance.gateway.context, { owner: ed25519Identity().identity })
    expectRefusal(await instance.read(RETRIEVE, { receipt_id }, AS_ORACLE), 404, 'locker_not_found')
    expectRefusal(await instance.read(RETRIEVE, { receipt_id: 'rcpt_none' }, AS_ORACLE), 404, 'receipt_not_found')
  })

  it('ATT-18 answers the payment of a receipt in the form that oracles read', async () => {
    const { paid_raw, pay_asset, network, tx_hash } = vectors.receipt_signature_proposal.receipt
    const seeded = await seedReceipt(instance.gateway.context, { owner: ed25519Identity().identity })
    const id = { receipt_id: 'rcpt_of_the_vectors', pay_req_id: 'pr_of_the_vectors' }
    await insertReceipt(writable(instance.gateway.context.database.db), {
      ...seeded,
      ...id,
      paid_raw,
      pay_asset,
      network,
      tx_hash,
    })
    const answer = await instance.get('/v1/retrieve/payment', { receipt_id: id.receipt_id })
    expect(answer).toEqual({
      receipt_id: id.receipt_id,
      att_code: vectors.payment_att_code_proposal.att_code,
      chain: network,
      tx_hash,
      paid_raw,
      paid_amount: seeded.paid_amount,
      pay_asset,
      payer_pubkey: seeded.payer_pubkey,
      confirmed_at: seeded.confirmed_at,
    })
    const plain = await instance.get<{ att_code: number }>('/v1/retrieve/payment', { receipt_id: seeded.receipt_id })
    expect(plain.att_code).toBe(paymentAttCode(seeded))
  })
})

describe('retrieve without a secret', () => {
  it('ATT-17 computes for any caller within the public rate limits where no secret is set', async () => {
    const instance = await openEvidenceGateway({ RATE_LIMITS: 'receipt=2/min' })
    const { receipt_id } = await instance.filled({ 'a.txt': 'one' })
    const empty = await instance.listed(0)
    for (const _ of [1, 2]) {
      expectRefusal(await instance.read(RETRIEVE, { receipt_id: empty.receipt_id }), 409, 'EMPTY_FILE_LIST')
    }
    expectRefusal(await instance.read(RETRIEVE, { receipt_id: empty.receipt_id }), 429, 'RATE_LIMITED')
    expect((await instance.read(RETRIEVE, { receipt_id })).status).toBe(200)
    await instance.close()
  })

  it.each([
    ['warns of open computing', {}, true],
    ['does not warn where a secret is set', { ORACLE_CALLBACK_SECRET: SECRET }, false],
  ])('ATT-17 %s at the start in production', async (_, variables, isWarned) => {
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    const log = createLog('warn', { write, writeSoon: write, flush: () => {} })
    const chains = { ...WITHOUT_PRIMARY, EVM_RPC_URLS: 'http://127.0.0.1:1' }
    const gateway = await startTestGateway({ ...PRODUCTION, ...chains, ...variables }, { log })
    await gateway.stop()
    expect(lines.some((line) => line.includes('ORACLE_CALLBACK_SECRET'))).toBe(isWarned)
  })
})
