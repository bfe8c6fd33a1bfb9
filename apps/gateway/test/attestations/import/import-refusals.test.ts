import { forEachDatabase } from '@svc/devnet/databases'
import { beforeAll, expect, it } from 'vitest'
import { addReceipt, type Exported, exported, vectorRecord } from './export-records.ts'
import { type ImportDatabase, openImportDatabase, remark, report } from './import-database.ts'

forEachDatabase('importing bad records of the oracle era', (database) => {
  let house: ImportDatabase
  beforeAll(async () => {
    house = await openImportDatabase(database)
  })

  it.each<[string, string, (good: ReturnType<typeof exported>) => Exported]>([
    ['LOCK-01 the locker of another receipt', 'wrong_locker', () => ({ locker_id: 'locker_14fa9d190572' })],
    ['MERK-10 another number of files', 'mismatch', () => ({ file_count: 3 })],
    ['another sum of bytes', 'mismatch', () => ({ total_bytes: 11 })],
    ['another root', 'mismatch', () => ({ merkle_root: `sha256:${'0'.repeat(64)}` })],
    ['another result_hash', 'mismatch', () => ({ result_hash: `sha256:${'0'.repeat(64)}` })],
    [
      'one more file',
      'mismatch',
      ({ files }) => ({ files: [...files, { ...files[0], filename: 'c' }], file_count: 3 }),
    ],
    ['a renamed file', 'mismatch', ({ files }) => ({ files: [files[0], { ...files[1], filename: 'B.txt' }] })],
    ['a time in the future', 'malformed', () => ({ attested_at: '2026-09-01T00:00:01Z' })],
    ['T-21 no files', 'malformed', () => ({ files: [], file_count: 0, total_bytes: 0 })],
  ])('refuses a record with %s, and writes nothing', async (name, reason, spoil) => {
    const good = exported(await addReceipt(house.db, `rcpt_${name.replace(/\W/g, '')}`))
    const before = await house.everything()
    const spoiled = { ...good, ...spoil(good) }
    const { refused, ...rest } = await house.run(spoiled)
    expect(rest).toEqual({ imported: 0, existing: 0, unverified: [] })
    expect(refused).toEqual([expect.objectContaining({ at: 'line 1', reason })])
    expect(await house.everything()).toEqual(before)
    expect(await house.run(good)).toEqual(report({ imported: 1 }))
  })

  it('MERK-10 refuses a record with its last file twice, which has the same root', async () => {
    const names = ['a', 'b', 'c']
    const good = exported(await addReceipt(house.db, 'rcpt_doubled'), names)
    const spoiled = { ...good, file_count: 4, files: [...good.files, good.files[2]] }
    expect((await house.run(spoiled)).refused).toEqual([expect.objectContaining({ reason: 'malformed' })])
  })

  it('refuses a record of a receipt that this gateway does not have', async () => {
    const before = await house.everything()
    const record = exported('rcpt_elsewhere')
    const problem = { reason: 'unknown_receipt' as const, problem: 'receipt_id: not of this gateway' }
    expect(await house.run(record)).toEqual(report({ refused: [{ ...remark(record, 1), ...problem }] }))
    expect(await house.everything()).toEqual(before)
  })

  it('refuses a second record of a receipt that differs in any part, and changes nothing', async () => {
    const kept = exported(await addReceipt(house.db, 'rcpt_kept'), ['a', 'b'], { oracle_slot: 5 })
    expect(await house.run(kept)).toEqual(report({ imported: 1 }))
    const before = await house.everything()
    const others = [
      exported('rcpt_kept', ['a', 'c'], { oracle_slot: 5 }),
      { ...kept, attested_at: '2025-03-01T09:30:01Z' },
      { ...kept, oracle_slot: 6 },
      { ...kept, manifest_signature: '1'.repeat(128) },
      { ...kept, files: kept.files.map((file) => ({ ...file, content_type: 'image/png' })) },
      { ...kept, oracle_slot: null, anchor: { ...(vectorRecord.anchor as Exported), slot: 5 } },
    ]
    const { refused, ...rest } = await house.run(...others)
    expect(rest).toEqual({ imported: 0, existing: 0, unverified: [] })
    expect(refused.map(({ reason }) => reason)).toEqual(others.map(() => 'differs'))
    expect(await house.everything()).toEqual(before)
  })

  it('refuses a record of a receipt that this gateway has attested, or whose attestation is pending', async () => {
    const pending = { status: 'pending' as const, sequence: null, manifest_version: null, attested_at: null }
    const attested = { status: 'computed' as const, sequence: 2, manifest_version: 7, attested_at: 1 }
    for (const [receiptId, state] of Object.entries({ rcpt_pending: pending, rcpt_attested: attested })) {
      const record = exported(await addReceipt(house.db, receiptId))
      const row = { receipt_id: receiptId, locker_id: record.locker_id, proof_id: null, anchor_error: null }
      await house.db
        .insertInto('attestations')
        .values({ ...row, ...state, status_since: 1 })
        .execute()
      const before = await house.everything()
      expect((await house.run(record)).refused).toEqual([expect.objectContaining({ reason: 'differs' })])
      expect(await house.everything()).toEqual(before)
    }
  })
})
