import type { Attestation } from '@svc/api/attestations'
import type { Statements, VerifyAnswer } from '@svc/api/evidence'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { statementDigest } from '@svc/protocol/evidence'
import type { VerificationFacts } from '@svc/protocol/facts'
import { expect, it } from 'vitest'
import { insertPending } from '../../../src/evidence/store.ts'
import { chainOfThree, openEvidenceGateway } from './evidence-gateway.ts'

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

forEachDatabase('verify', (database) => {
  const instance = forAllTests(() => openEvidenceGateway({ DATABASE_URL: database.url }))
  const verify = (receipt_id: string, query = {}) => instance.get<VerifyAnswer>(VERIFY, { receipt_id, ...query })

  it('VER-03 VER-10 answers a receipt without an attestation with a null attestation and a hint', async () => {
    const receipt = await seedReceipt(instance.gateway.context, { owner: ed25519Identity().identity })
    const { receipt_id } = receipt
    expect(await verify(receipt_id)).toEqual({
      receipt,
      attestation: null,
      attestation_hint: `no attestation yet: POST /v1/storage/attest?receipt_id=${receipt_id}`,
      verified: false,
      verify_url: `${instance.gateway.context.config.http.baseUrl}/v1/storage/verify?receipt_id=${receipt_id}`,
      verification: NOTHING,
      anchor: null,
    })
  })

  it('VER-03 VER-04 answers a pending attestation as null', async () => {
    const { receipt_id, locker_id } = await instance.listed(0)
    const { db } = instance.gateway.context.database
    await writable(db)
      .transaction()
      .execute((tx) => insertPending(tx, { receipt_id, locker_id }, 1))
    expect(await verify(receipt_id)).toMatchObject({
      attestation: null,
      attestation_hint: expect.stringContaining('being computed'),
      verified: false,
      verification: { ...NOTHING, commitment_computed: 'failed' },
      anchor: null,
    })
  })

  it('VER-02 EVID-22 answers the whole record, by GET and by POST', async () => {
    const locker = await instance.filled({ 'b.txt': 'two', 'a.txt': 'one' })
    const { record } = await instance.state(locker)
    const answer = await verify(locker.receipt_id)
    const byPost = await instance.send<VerifyAnswer>('POST', VERIFY, { receipt_id: locker.receipt_id })
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
    const { receipt_id } = await instance.filled({ 'a.txt': 'one' })
    const { database, queue } = instance.gateway.context
    const before = await queue.counts()
    const byGet = await instance.read<VerifyAnswer>(VERIFY, { receipt_id })
    const byPost = await instance.send<VerifyAnswer>('POST', VERIFY, { receipt_id })
    for (const { status, body } of [byGet, byPost]) {
      expect([status, body]).toMatchObject([200, { attestation: null, verified: false, verification: NOTHING }])
    }
    for (const table of ['attestations', 'statements'] as const) {
      const rows = database.db.selectFrom(table).select('receipt_id').where('receipt_id', '=', receipt_id)
      expect(await rows.execute(), table).toEqual([])
    }
    expect(await queue.counts()).toEqual(before)
  })

  it('VER-09 reports bytes as checked where the statement states that they were hashed', async () => {
    const locker = await instance.listed(1)
    await instance.state(locker, { checkMode: 'bytes_hashed' })
    expect((await verify(locker.receipt_id)).verification).toEqual({ ...COMPUTED, bytes_checked: 'passed' })
  })

  it('VER-01 answers a new statement as soon as it exists', async () => {
    const locker = await instance.filled({ 'a.txt': 'one' })
    for (const count of [1, 2, 3]) {
      await locker.put(`${count}.txt`, 'more')
      await instance.state(locker)
      for (const _ of [1, 2]) expect((await verify(locker.receipt_id)).attestation?.file_count).toBe(count + 1)
    }
  })

  it('GEN-11 T-33 names files but never the storage provider', async () => {
    const locker = await instance.filled({ 'a.txt': 'one' }, { provider: 'filecoin' })
    await instance.state(locker)
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
      const text = JSON.stringify(await instance.get(path, { receipt_id, filename: 'a.txt' }))
      expect(text, path).not.toMatch(/provider|filecoin|object_id/)
      expect(text.includes('a.txt'), path).toBe(withFiles.includes(path))
    }
  })

  const STATEMENTS = '/v1/storage/statements'
  const list = (receipt_id: string, query = {}) => instance.get<Statements>(STATEMENTS, { receipt_id, ...query })

  it('EVID-10 EVID-20 lists the chain, in which each statement names its predecessor', async () => {
    const { receipt_id } = await chainOfThree(instance)
    const { proof_id, statements, ...rest } = await list(receipt_id)
    expect(rest).toEqual({ receipt_id })
    expect(proof_id).toMatch(/^[0-9a-f]{32}$/)
    expect(statements.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    const digests = statements.map(({ statement_digest }) => statement_digest)
    expect(statements.map((of) => of.prev_statement_digest)).toEqual([null, ...digests.slice(0, 2)])
    expect(statements.map(({ file_count, total_bytes }) => [file_count, total_bytes])).toEqual([
      [1, '3'],
      [2, '6'],
      [3, '11'],
    ])
  })

  it('EVID-10 lists the chain in pages', async () => {
    const { receipt_id } = await chainOfThree(instance)
    const first = await list(receipt_id, { limit: 2 })
    expect(first).toMatchObject({ statements: [{ sequence: 1 }, { sequence: 2 }], next_sequence: 3 })
    const last = await list(receipt_id, { limit: 2, from: 3 })
    expect(last).toMatchObject({ statements: [{ sequence: 3 }] })
    expect(last).not.toHaveProperty('next_sequence')
    expect((await list(receipt_id, { limit: 3 })).next_sequence).toBeUndefined()
    expect((await list(receipt_id, { from: 4 })).statements).toEqual([])
  })

  it('EVID-10 T-38 lists the chain from its end, with the signed statements on request', async () => {
    const { receipt_id } = await chainOfThree(instance)
    const sequences = async (query: object) =>
      (await list(receipt_id, query)).statements.map(({ sequence }: { sequence: number }) => sequence)
    expect(await sequences({ before: 4_294_967_295, limit: 2 })).toEqual([2, 3])
    expect(await sequences({ before: 2, limit: 2 })).toEqual([1])
    expect(await sequences({ before: 3, from: 2 })).toEqual([2])
    expect(await sequences({ before: 1 })).toEqual([])
    const { statements } = await list(receipt_id, { envelopes: true })
    for (const { statement_digest, envelope } of statements) {
      expect(statementDigest(envelope!.body)).toBe(statement_digest)
    }
    expect((await list(receipt_id, { envelopes: false })).statements[0]).not.toHaveProperty('envelope')
  })

  it('GEN-08 refuses invalid pages, and lists nothing before the first statement', async () => {
    const { receipt_id } = await instance.listed(0)
    expect(await list(receipt_id)).toEqual({ receipt_id, proof_id: null, statements: [] })
    for (const query of [{ limit: 0 }, { limit: 1001 }, { from: 0 }, { from: 'x' }, { before: 0 }, { envelopes: 2 }]) {
      expectRefusal(await instance.read(STATEMENTS, { receipt_id, ...query }), 422, 'validation_error')
    }
  })
})
