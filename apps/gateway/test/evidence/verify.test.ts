import type { Attestation } from '@svc/api/attestations'
import type { VerifyAnswer } from '@svc/api/evidence'
import { forEachDatabase } from '@svc/devnet/databases'
import type { VerificationFacts } from '@svc/protocol/facts'
import { seedReceipt } from '@svc/testbed/seed-lockers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertPending } from '../../src/attestations/store.ts'
import { ed25519Identity, expectRefusal } from '../auth/lockers.ts'
import { chainOfThree, type EvidenceHouse, memoAnchor, openEvidenceHouse } from './evidence-house.ts'

const VERIFY = '/v1/storage/verify'
const NOTHING: VerificationFacts = {
  commitment_computed: 'not_checked',
  signature_valid: 'not_checked',
  anchor_submitted: 'not_checked',
  anchor_confirmed: 'not_checked',
  anchor_finalized: 'not_checked',
  payment_verified: 'not_checked',
  bytes_checked: 'not_checked',
  witness: 'not_checked',
}
const COMPUTED: VerificationFacts = { ...NOTHING, commitment_computed: 'passed', signature_valid: 'passed' }
const PUBLISHED: VerificationFacts = { ...COMPUTED, anchor_submitted: 'passed', anchor_confirmed: 'passed' }

forEachDatabase('verify', (database) => {
  let house: EvidenceHouse
  const verify = (receipt_id: string, query = {}) => house.get<VerifyAnswer>(VERIFY, { receipt_id, ...query })
  beforeAll(async () => {
    house = await openEvidenceHouse({ DATABASE_URL: database.url })
  })
  afterAll(() => house.close())

  it('VER-01 VER-03 VER-10 SHAPE-32 answers a receipt without an attestation with a null attestation and a hint', async () => {
    const receipt = await seedReceipt(house.gateway.context, { owner: ed25519Identity().identity })
    const { receipt_id } = receipt
    expect(await verify(receipt_id)).toEqual({
      receipt,
      attestation: null,
      attestation_hint: `no attestation yet: POST /v1/storage/attest?receipt_id=${receipt_id}`,
      verified: false,
      verify_url: `${house.gateway.context.config.http.baseUrl}/v1/storage/verify?receipt_id=${receipt_id}`,
      verification: NOTHING,
      anchor: null,
    })
  })

  it('VER-03 VER-04 AMB-35 answers a pending attestation as null', async () => {
    const { receipt_id, locker_id } = await house.listed(0)
    const { db } = house.gateway.context.database
    await db.transaction().execute((tx) => insertPending(tx, { receipt_id, locker_id }, 1))
    expect(await verify(receipt_id)).toMatchObject({
      attestation: null,
      attestation_hint: expect.stringContaining('being computed'),
      verified: false,
      verification: { ...NOTHING, commitment_computed: 'failed' },
      anchor: null,
    })
  })

  it('VER-01 VER-02 EVID-22 AMB-81 AMB-83 answers the whole record, by GET and by POST', async () => {
    const locker = await house.filled({ 'b.txt': 'two', 'a.txt': 'one' })
    const { record } = await house.state(locker)
    const answer = await verify(locker.receipt_id)
    const byPost = await house.send<VerifyAnswer>('POST', VERIFY, { receipt_id: locker.receipt_id })
    expect(byPost).toMatchObject({ status: 200, body: answer })
    expect(answer).toMatchObject({ attestation_hint: null, verified: true, verification: COMPUTED, anchor: null })
    const { files, ...attestation } = answer.attestation as Attestation
    expect(attestation).toEqual({
      receipt_id: locker.receipt_id,
      locker_id: locker.locker_id,
      ...record,
      attestation_status: 'computed',
      anchor: null,
    })
    expect(files.map(({ filename, size_bytes, content_type }) => [filename, size_bytes, content_type])).toEqual([
      ['a.txt', 3, 'text/plain'],
      ['b.txt', 3, 'text/plain'],
    ])
    expect(files.every(({ content_hash }) => /^sha256:[0-9a-f]{64}$/.test(content_hash))).toBe(true)
  })

  it('VER-02 computes and queues nothing for a locker that was never attested, by GET and by POST', async () => {
    const { receipt_id } = await house.filled({ 'a.txt': 'one' })
    const { database, queue } = house.gateway.context
    const before = await queue.counts()
    const byGet = await house.read<VerifyAnswer>(VERIFY, { receipt_id })
    const byPost = await house.send<VerifyAnswer>('POST', VERIFY, { receipt_id })
    for (const { status, body } of [byGet, byPost]) {
      expect([status, body]).toMatchObject([200, { attestation: null, verified: false, verification: NOTHING }])
    }
    for (const table of ['attestations', 'statements'] as const) {
      const rows = database.db.selectFrom(table).select('receipt_id').where('receipt_id', '=', receipt_id)
      expect(await rows.execute(), table).toEqual([])
    }
    expect(await queue.counts()).toEqual(before)
  })

  it('VER-06 AMB-35 shows a statement that is being published as computed, with its anchor submitted', async () => {
    const locker = await house.listed(2)
    await house.state(locker, { status: 'pushing' })
    const { attestation, verification } = await verify(locker.receipt_id)
    expect(attestation?.attestation_status).toBe('computed')
    expect(verification).toEqual({ ...COMPUTED, anchor_submitted: 'passed' })
  })

  it('VER-07 VER-08 ANCH-05 ANCH-10 ATT-01 shows the anchor beside the record, and whether it is final', async () => {
    const locker = await house.listed(2)
    const { anchor } = await house.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    const confirmed = await verify(locker.receipt_id)
    expect(confirmed).toMatchObject({ anchor, attestation: { anchor, attestation_status: 'complete' } })
    // A memo anchor is never shown as one of the oracle.
    const noOracle = { oracle_tx: null, oracle_slot: null, oracle_feed: null }
    expect(confirmed).toMatchObject({ anchor: { type: 'chain_memo_v2' }, attestation: noOracle })
    expect(confirmed.verification).toEqual(PUBLISHED)
    const final = { ...anchor, commitment: 'finalized', finalized: true }
    const { db } = house.gateway.context.database
    await db
      .updateTable('statements')
      .set({ anchor: JSON.stringify(final) })
      .where('receipt_id', '=', locker.receipt_id)
      .execute()
    const finalized = await verify(locker.receipt_id)
    expect(finalized.anchor).toEqual(final)
    expect(finalized.verification).toEqual({ ...PUBLISHED, anchor_finalized: 'passed' })
  })

  it('VER-07 AMB-87 AMB-88 shows a failed attempt to publish until one succeeds', async () => {
    const locker = await house.listed(2)
    await house.state(locker)
    const error = {
      error: 'rejected',
      retryable: true,
      ambiguous: false,
      tx_signature: null,
      at: '2026-09-01T12:00:00Z',
    }
    const { db } = house.gateway.context.database
    await db
      .updateTable('attestations')
      .set({ anchor_error: JSON.stringify(error) })
      .where('receipt_id', '=', locker.receipt_id)
      .execute()
    const failed = await verify(locker.receipt_id)
    expect(failed.attestation?.last_anchor_error).toEqual(error)
    expect(failed.verification).toEqual({ ...COMPUTED, anchor_confirmed: 'failed' })
    await house.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    const published = await verify(locker.receipt_id)
    expect(published.attestation).not.toHaveProperty('last_anchor_error')
    expect(published.verification).toEqual(PUBLISHED)
  })

  it('VER-09 reports bytes as checked where the statement says that they were hashed', async () => {
    const locker = await house.listed(1)
    await house.state(locker, { checkMode: 'bytes_hashed' })
    expect((await verify(locker.receipt_id)).verification).toEqual({ ...COMPUTED, bytes_checked: 'passed' })
  })

  it('VER-01 ATT-19 answers each statement of a chain by its sequence', async () => {
    const { receipt_id } = await chainOfThree(house)
    const newest = await verify(receipt_id)
    expect(newest.attestation).toMatchObject({ evidence_seq: 3, file_count: 3 })
    for (const sequence of [1, 2, 3]) {
      const { attestation, verification, verify_url } = await verify(receipt_id, { sequence })
      expect(attestation).toMatchObject({ evidence_seq: sequence, file_count: sequence })
      expect(attestation?.files).toHaveLength(sequence)
      expect(verification).toEqual(COMPUTED)
      expect(verify_url).toMatch(new RegExp(`receipt_id=${receipt_id}&sequence=${sequence}$`))
    }
    expect((await verify(receipt_id, { sequence: 3 })).attestation).toEqual(newest.attestation)
  })

  it('VER-01 answers a new statement as soon as it exists', async () => {
    const locker = await house.filled({ 'a.txt': 'one' })
    for (const count of [1, 2, 3]) {
      await locker.put(`${count}.txt`, 'more')
      await house.state(locker)
      for (const _ of [1, 2]) expect((await verify(locker.receipt_id)).attestation?.file_count).toBe(count + 1)
    }
  })

  it('AMB-36 keeps the anchor of an older statement, and shows none for a newer unpublished one', async () => {
    const locker = await house.listed(1)
    const { anchor } = await house.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    await house.state(locker)
    expect(await verify(locker.receipt_id)).toMatchObject({ anchor: null, verification: COMPUTED })
    expect(await verify(locker.receipt_id, { sequence: 1 })).toMatchObject({ anchor, verification: PUBLISHED })
  })
})

describe('verify refuses', () => {
  let house: EvidenceHouse
  beforeAll(async () => {
    house = await openEvidenceHouse()
  })
  afterAll(() => house.close())

  it('VER-01 VER-02 an unknown receipt, and a request without one', async () => {
    expectRefusal(await house.read(VERIFY, { receipt_id: 'rcpt_none' }), 404, 'receipt_not_found')
    expectRefusal(await house.send('POST', VERIFY, { receipt_id: 'rcpt_none' }), 404, 'receipt_not_found')
    expectRefusal(await house.read(VERIFY), 422, 'validation_error')
    expectRefusal(await house.send('POST', VERIFY, {}), 422, 'validation_error')
    expectRefusal(await house.send('POST', VERIFY), 422, 'validation_error')
  })

  it('VER-01 an unknown or invalid sequence', async () => {
    const { receipt_id } = await chainOfThree(house)
    for (const sequence of [0, 4, 4_294_967_295]) {
      expectRefusal(await house.read(VERIFY, { receipt_id, sequence }), 404, 'statement_not_found')
      expectRefusal(await house.send('POST', VERIFY, { receipt_id, sequence }), 404, 'statement_not_found')
    }
    for (const sequence of ['-1', '1.5', 'x', '', '4294967296', '99999999999999999999']) {
      expectRefusal(await house.read(VERIFY, { receipt_id, sequence }), 422, 'validation_error')
    }
    for (const sequence of [-1, 1.5, '1', null, 1e300]) {
      expectRefusal(await house.send('POST', VERIFY, { receipt_id, sequence }), 422, 'validation_error')
    }
  })

  it('GEN-11 AMB-21 T-32 names files but never the storage provider', async () => {
    const locker = await house.filled({ 'a.txt': 'one' }, { provider: 'filecoin' })
    await house.state(locker)
    const { receipt_id } = locker
    const withFiles = [
      VERIFY,
      '/v1/retrieve',
      '/v1/storage/verification-bundle',
      '/v1/storage/evidence-bundle',
      '/v1/storage/recompute-verify',
      '/v1/storage/merkle-proof',
    ]
    for (const path of [...withFiles, '/v1/self-verify', '/v1/storage/statements', '/v1/attest-code']) {
      const text = JSON.stringify(await house.get(path, { receipt_id, filename: 'a.txt' }))
      expect(text, path).not.toMatch(/provider|filecoin|object_id/)
      expect(text.includes('a.txt'), path).toBe(withFiles.includes(path))
    }
  })
})
