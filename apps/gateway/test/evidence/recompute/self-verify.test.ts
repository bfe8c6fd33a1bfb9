import type { SelfVerify } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StatementRecord } from '../../../src/attestations/record.ts'
import { expectRefusal } from '../../auth/lockers.ts'
import {
  chainOfThree,
  type EvidenceHouse,
  type FilledLocker,
  memoAnchor,
  openEvidenceHouse,
} from '../evidence-house.ts'

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

let house: EvidenceHouse
const checksOf = async (receipt_id: string, query = {}) =>
  (await house.get<SelfVerify>(SELF, { receipt_id, ...query })).checks

forEachDatabase('self-verify', (database) => {
  beforeAll(async () => {
    house = await openEvidenceHouse({ DATABASE_URL: database.url })
  })
  afterAll(() => house.close())

  it('VER-19 ANCH-05 SHAPE-40 computes everything again, and answers anchor and facts', async () => {
    const locker = await chainOfThree(house)
    const { anchor } = await house.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    const { receipt_id } = locker
    const { verification, checked_at, ...answer } = await house.get<SelfVerify>(SELF, { receipt_id })
    expect(answer).toEqual({ receipt_id, checks: PASSED, anchor })
    expect(verification).toMatchObject({ signature_valid: 'passed', anchor_confirmed: 'passed' })
    expect(checked_at).toBe(new Date(house.clock.now()).toISOString().replace('.000Z', 'Z'))
    for (const sequence of [1, 2, 3, 4]) expect(await checksOf(receipt_id, { sequence })).toEqual(PASSED)
    expectRefusal(await house.read(SELF, { receipt_id, sequence: 5 }), 404, 'statement_not_found')
  })

  it('VER-19 passes for a long list of files', { tags: ['nightly'] }, async () => {
    for (const count of [1, 1024, 1025, 5001]) {
      const locker = await house.listed(count)
      await house.state(locker)
      expect(await checksOf(locker.receipt_id), String(count)).toEqual(PASSED)
    }
  })

  it('AMB-45 refuses an unknown receipt and one without a statement', async () => {
    const { receipt_id } = await house.listed(1)
    expectRefusal(await house.read(SELF, { receipt_id }), 409, 'attestation_not_available')
    expectRefusal(await house.read(SELF, { receipt_id: 'rcpt_none' }), 404, 'receipt_not_found')
    expectRefusal(await house.read(SELF), 422, 'validation_error')
  })
})

describe('self-verify finds', () => {
  let locker: FilledLocker
  beforeAll(async () => {
    house = await openEvidenceHouse()
  })
  afterAll(() => house.close())

  /** Changes the stored statement of a new chain, and returns the checks that fail for the newest statement. */
  async function failing(
    change: (record: StatementRecord & { envelope: NonNullable<StatementRecord['envelope']> }) => void,
    sequence = 3,
  ): Promise<string[]> {
    locker = await chainOfThree(house)
    const { db } = house.gateway.context.database
    const statement = db.selectFrom('statements').select('record').where('receipt_id', '=', locker.receipt_id)
    const { record } = await statement.where('sequence', '=', sequence).executeTakeFirstOrThrow()
    const changed = JSON.parse(record)
    change(changed)
    await db
      .updateTable('statements')
      .set({ record: JSON.stringify(changed) })
      .where('receipt_id', '=', locker.receipt_id)
      .where('sequence', '=', sequence)
      .execute()
    return failed(await checksOf(locker.receipt_id))
  }
  const failed = (checks: SelfVerify['checks']) =>
    Object.entries(checks)
      .filter(([, outcome]) => outcome === 'failed')
      .map(([name]) => name)
  const OTHER = `sha256:${'0'.repeat(64)}`

  it('VER-19 a changed Merkle root in the record', async () => {
    expect(await failing((record) => Object.assign(record, { merkle_root: OTHER }))).toEqual(['merkle_root_matches'])
    expect(await failing((record) => Object.assign(record, { file_count: 4 }))).toEqual(['merkle_root_matches'])
  })

  it('VER-19 a changed result hash', async () => {
    expect(await failing((record) => Object.assign(record, { result_hash: OTHER }))).toEqual(['result_hash_matches'])
  })

  it('VER-19 EVID-20 a changed field of the statement', async () => {
    const signed = ['statement_digest_matches', 'signature_valid']
    const body = (field: string, value: unknown) =>
      failing(({ envelope }) => Object.assign(envelope.body, { [field]: value }))
    expect(await body('merkle_root', OTHER)).toEqual(['merkle_root_matches', ...signed])
    expect(await body('manifest_digest', OTHER)).toEqual(['manifest_digest_matches', ...signed])
    expect(await body('snapshot_id', '0'.repeat(64))).toEqual(['snapshot_id_matches', ...signed])
    expect(await body('prev_statement_digest', '0'.repeat(64))).toEqual([...signed, 'chain_links'])
    expect(await body('sequence', 4)).toEqual([...signed, 'chain_links'])
    expect(await body('total_bytes', '1')).toEqual(signed)
  })

  it('VER-19 a changed digest or signature', async () => {
    const envelope = (change: object) => failing((record) => Object.assign(record.envelope, change))
    expect(await envelope({ statement_digest: '0'.repeat(64) })).toEqual([
      'statement_digest_matches',
      'signature_valid',
    ])
    expect(await envelope({ signature: '0'.repeat(128) })).toEqual(['signature_valid'])
  })

  it('EVID-11 a link to a statement that was changed or is missing', async () => {
    expect(await failing(({ envelope }) => Object.assign(envelope.body, { total_bytes: '1' }), 2)).toEqual([
      'chain_links',
    ])
    const { db } = house.gateway.context.database
    await db.deleteFrom('statements').where('receipt_id', '=', locker.receipt_id).where('sequence', '=', 2).execute()
    expect(failed(await checksOf(locker.receipt_id))).toEqual(['chain_links'])
  })

  it.each(['changed', 'no JSON', 'gone'])('VER-19 a list of files that is %s', async (how) => {
    const fresh = await house.listed(300)
    await house.state(fresh)
    const { db } = house.gateway.context.database
    const chunks = await db.selectFrom('snapshot_chunks').selectAll().execute()
    const chunk = chunks.find(({ content }) => content.includes('file-0000250.txt'))!
    if (how === 'gone') await db.deleteFrom('snapshot_chunks').where('chunk_id', '=', chunk.chunk_id).execute()
    const content = how === 'no JSON' ? '{' : chunk.content.replace('file-0000250.txt', 'file-0000250.TXT')
    await db.updateTable('snapshot_chunks').set({ content }).where('chunk_id', '=', chunk.chunk_id).execute()
    const ofList = ['merkle_root_matches', 'result_hash_matches', 'manifest_digest_matches', 'snapshot_id_matches']
    expect(failed(await checksOf(fresh.receipt_id))).toEqual(ofList)
    await db.deleteFrom('snapshot_chunks').where('chunk_id', '=', chunk.chunk_id).execute()
    await db.insertInto('snapshot_chunks').values(chunk).execute()
    expect(await checksOf(fresh.receipt_id)).toEqual(PASSED)
  })

  it('VER-19 a snapshot that is damaged or missing', async () => {
    const fresh = await house.listed(3)
    const { snapshotKey } = await house.state(fresh)
    const { db } = house.gateway.context.database
    const snapshots = db.updateTable('snapshots').where('snapshot_key', '=', snapshotKey)
    for (const chunk_list of [Buffer.alloc(0), Buffer.alloc(8), Buffer.alloc(8, 0xff), Buffer.from('something else')]) {
      await snapshots.set({ chunk_list }).execute()
      expect(failed(await checksOf(fresh.receipt_id))).toHaveLength(4)
    }
    await db.deleteFrom('snapshots').where('snapshot_key', '=', snapshotKey).execute()
    expect(failed(await checksOf(fresh.receipt_id))).toHaveLength(4)
  })
})

it('T-10 counts self-verify against the public rate limits', async () => {
  house = await openEvidenceHouse({ RATE_LIMIT_RECEIPT: '2' })
  const locker = await house.listed(1)
  await house.state(locker)
  for (const status of [200, 200, 429])
    expect((await house.read(SELF, { receipt_id: locker.receipt_id })).status).toBe(status)
  await house.close()
})
