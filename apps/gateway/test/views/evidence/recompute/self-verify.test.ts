import type { SelfVerify } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StatementRecord } from '../../../../src/evidence/record.ts'
import { chainOfThree, type EvidenceGateway, memoAnchor, openEvidenceGateway } from '../evidence-gateway.ts'

const SELF = '/v1/self-verify'
const PASSED: SelfVerify['checks'] = {
  merkle_root_matches: 'passed',
  result_hash_matches: 'passed',
  manifest_digest_matches: 'passed',
  snapshot_id_matches: 'passed',
  statement_digest_matches: 'passed',
  signature_valid: 'passed',
  chain_links: 'passed',
}

let instance: EvidenceGateway
const checksOf = async (receipt_id: string, query = {}) =>
  (await instance.get<SelfVerify>(SELF, { receipt_id, ...query })).checks

forEachDatabase('self-verify', (database) => {
  beforeAll(async () => {
    instance = await openEvidenceGateway({ DATABASE_URL: database.url })
  })
  afterAll(() => instance.close())

  it('VER-19 ANCH-05 computes everything again, and reports the anchor and the facts', async () => {
    const locker = await chainOfThree(instance)
    const { anchor } = await instance.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    const { receipt_id } = locker
    const { verification, checked_at, ...answer } = await instance.get<SelfVerify>(SELF, { receipt_id })
    expect(answer).toEqual({ receipt_id, checks: PASSED, anchor })
    expect(verification).toMatchObject({ signature_valid: 'passed', anchor_confirmed: 'passed' })
    expect(checked_at).toBe(new Date(instance.clock.now()).toISOString().replace('.000Z', 'Z'))
    for (const sequence of [1, 2, 3, 4]) expect(await checksOf(receipt_id, { sequence })).toEqual(PASSED)
  })

  it('VER-19 passes for a long list of files', { tags: ['nightly'] }, async () => {
    for (const count of [1, 1024, 1025, 5001]) {
      const locker = await instance.listed(count)
      await instance.state(locker)
      expect(await checksOf(locker.receipt_id), String(count)).toEqual(PASSED)
    }
  })
})

describe('self-verify finds', () => {
  beforeAll(async () => {
    instance = await openEvidenceGateway()
  })
  afterAll(() => instance.close())

  const failed = (checks: SelfVerify['checks']) =>
    Object.entries(checks)
      .filter(([, outcome]) => outcome === 'failed')
      .map(([name]) => name)

  const OTHER = `sha256:${'0'.repeat(64)}`
  const SIGNED = ['statement_digest_matches', 'signature_valid']
  type Envelope = NonNullable<StatementRecord['envelope']>
  const ofRecord = (change: object) => (record: StatementRecord) => void Object.assign(record, change)
  const ofEnvelope = (change: object) => (record: StatementRecord) => void Object.assign(record.envelope!, change)
  const ofBody = (change: Partial<Envelope['body']>) => (record: StatementRecord) =>
    void Object.assign(record.envelope!.body, change)

  it.each<[string, (record: StatementRecord) => void, string[], sequence?: number]>([
    ['Merkle root', ofRecord({ merkle_root: OTHER }), ['merkle_root_matches']],
    ['number of files', ofRecord({ file_count: 4 }), ['merkle_root_matches']],
    ['result hash', ofRecord({ result_hash: OTHER }), ['result_hash_matches']],
    ['signed root', ofBody({ merkle_root: OTHER }), ['merkle_root_matches', ...SIGNED]],
    ['signed manifest', ofBody({ manifest_digest: OTHER }), ['manifest_digest_matches', ...SIGNED]],
    ['signed snapshot', ofBody({ snapshot_id: '0'.repeat(64) }), ['snapshot_id_matches', ...SIGNED]],
    ['signed link', ofBody({ prev_statement_digest: '0'.repeat(64) }), [...SIGNED, 'chain_links']],
    ['signed sequence', ofBody({ sequence: 4 }), [...SIGNED, 'chain_links']],
    ['signed size', ofBody({ total_bytes: '1' }), SIGNED],
    ['digest', ofEnvelope({ statement_digest: '0'.repeat(64) }), SIGNED],
    ['signature', ofEnvelope({ signature: '0'.repeat(128) }), ['signature_valid']],
    ['previous statement', ofBody({ total_bytes: '1' }), ['chain_links'], 2],
  ])('VER-19 T-21 a changed %s', async (_, change, expected, sequence = 3) => {
    const { receipt_id } = await chainOfThree(instance)
    const { db } = instance.gateway.context.database
    const statement = db.selectFrom('statements').select('record').where('receipt_id', '=', receipt_id)
    const { record } = await statement.where('sequence', '=', sequence).executeTakeFirstOrThrow()
    const changed = JSON.parse(record)
    change(changed)
    const rows = writable(db)
      .updateTable('statements')
      .set({ record: JSON.stringify(changed) })
    await rows.where('receipt_id', '=', receipt_id).where('sequence', '=', sequence).execute()
    expect(failed(await checksOf(receipt_id))).toEqual(expected)
  })

  it('EVID-11 a link to a statement that is missing', async () => {
    const { receipt_id } = await chainOfThree(instance)
    const { db } = instance.gateway.context.database
    await writable(db).deleteFrom('statements').where('receipt_id', '=', receipt_id).where('sequence', '=', 2).execute()
    expect(failed(await checksOf(receipt_id))).toEqual(['chain_links'])
  })

  it.each(['changed', 'no JSON', 'gone'])('VER-19 a file list that is %s', async (how) => {
    const fresh = await instance.listed(300)
    await instance.state(fresh)
    const { db } = instance.gateway.context.database
    const chunks = await db.selectFrom('snapshot_chunks').selectAll().execute()
    const chunk = chunks.find(({ content }) => content.includes('file-0000250.txt'))!
    if (how === 'gone')
      await writable(db).deleteFrom('snapshot_chunks').where('chunk_id', '=', chunk.chunk_id).execute()
    const content = how === 'no JSON' ? '{' : chunk.content.replace('file-0000250.txt', 'file-0000250.TXT')
    await writable(db).updateTable('snapshot_chunks').set({ content }).where('chunk_id', '=', chunk.chunk_id).execute()
    const ofList = ['merkle_root_matches', 'result_hash_matches', 'manifest_digest_matches', 'snapshot_id_matches']
    expect(failed(await checksOf(fresh.receipt_id))).toEqual(ofList)
    await writable(db).deleteFrom('snapshot_chunks').where('chunk_id', '=', chunk.chunk_id).execute()
    await writable(db).insertInto('snapshot_chunks').values(chunk).execute()
    expect(await checksOf(fresh.receipt_id)).toEqual(PASSED)
  })

  it('VER-19 a snapshot that is damaged or missing', async () => {
    const fresh = await instance.listed(3)
    const { snapshotKey } = await instance.state(fresh)
    const { db } = instance.gateway.context.database
    const snapshots = writable(db).updateTable('snapshots').where('snapshot_key', '=', snapshotKey)
    for (const chunk_list of [Buffer.alloc(0), Buffer.alloc(8), Buffer.alloc(8, 0xff), Buffer.from('something else')]) {
      await snapshots.set({ chunk_list }).execute()
      expect(failed(await checksOf(fresh.receipt_id))).toHaveLength(4)
    }
    await writable(db).deleteFrom('snapshots').where('snapshot_key', '=', snapshotKey).execute()
    expect(failed(await checksOf(fresh.receipt_id))).toHaveLength(4)
  })
})
