import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { manifestSignature } from '@svc/protocol/attestation'
import { verificationFacts } from '@svc/protocol/facts'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { foldProof } from '@svc/protocol/merkle'
import { beforeAll, expect, it } from 'vitest'
import type { Db } from '../../../src/db/schema.ts'
import type { ImportReport } from '../../../src/evidence/import/import-records.ts'
import { openProofCache, proveFile } from '../../../src/evidence/snapshots/prove-file.ts'
import { snapshotFiles } from '../../../src/evidence/snapshots/read-snapshot.ts'
import { findAttestation, findRecord } from '../../../src/evidence/store.ts'
import { attestationCounts } from '../../../src/views/attest-health.ts'
import {
  addReceipt,
  type Exported,
  exported,
  type ImportDatabase,
  listOf,
  openImportDatabase,
  remark,
  report,
  signerHex,
  vectorRecord,
} from './export-records.ts'

forEachDatabase('importing records of the oracle era', (database) => {
  let instance: ImportDatabase
  let db: Db
  beforeAll(async () => {
    instance = await openImportDatabase(database)
    db = instance.db
  })
  const run = (...records: Exported[]) => instance.run(...records)

  async function listed(snapshotKey: string) {
    return (await listOf(snapshotFiles(db, snapshotKey))).flat()
  }

  it('ANCH-09 VER-15 stores a record of an independent implementation unchanged', async () => {
    await addReceipt(db, vectorRecord.receipt_id as string)
    expect(await run(vectorRecord)).toEqual(report({ imported: 1 }))

    const { receipt_id, locker_id, files, anchor, ...fields } = vectorRecord
    const imported = await findRecord(db, receipt_id as string)
    const stored = { receiptId: receipt_id, lockerId: locker_id, sequence: 0, record: fields, status: null, anchor }
    expect(imported).toMatchObject({ ...stored, anchorError: null, anchorAbsence: null })
    const wanted = (files as { content_hash: string }[]).map((file) => ({
      ...file,
      content_hash: `sha256:${file.content_hash}`,
      content_type: 'application/octet-stream',
    }))
    expect(await listed(imported!.snapshotKey)).toEqual(wanted)
    expect(await findAttestation(db, receipt_id as string)).toMatchObject({
      proof_id: null,
      status: null,
      sequence: 0,
      attested_at: Date.parse(fields.attested_at as string) / 1000,
      status_since: null,
    })
  })

  it('STATE-14 INT-03 keeps the facts of an imported record, and counts one without a transaction as in flight', async () => {
    const { anchor: _, ...oracle } = vectorRecord
    const tx = { oracle_tx: oracle.oracle_tx, oracle_slot: 5 }
    const records = [
      exported(await addReceipt(db, 'rcpt_final'), undefined, tx),
      exported(await addReceipt(db, 'rcpt_complete'), undefined, { ...tx, attestation_status: 'complete' }),
      exported(await addReceipt(db, 'rcpt_computed'), undefined, { ...tx, attestation_status: 'computed' }),
      exported(await addReceipt(db, 'rcpt_bare')),
    ]
    const health = () => attestationCounts({ database: instance.database, now: instance.context.now })
    const before = await health()
    expect(await run(...records)).toEqual(report({ imported: 4 }))
    const facts = await Promise.all(
      records.map(async ({ receipt_id }) => {
        const { record, status, anchor } = (await findRecord(db, receipt_id))!
        const { commitment_computed, signature_valid, anchor_confirmed } = verificationFacts(
          { ...record, attestation_status: status, anchor, envelope: null, check_mode: null },
          { key: ed25519PublicKeyFromHex(signerHex), domainTag: '' },
        )
        return [commitment_computed, signature_valid, anchor_confirmed, status]
      }),
    )
    expect(facts).toEqual([
      ['passed', 'passed', 'passed', null],
      ['passed', 'passed', 'passed', 'complete'],
      ['passed', 'passed', 'not_checked', 'computed'],
      ['passed', 'passed', 'not_checked', 'computed'],
    ])
    const after = await health()
    expect(after.counts).toEqual({
      ...before.counts,
      computed: before.counts.computed + 2,
      complete: before.counts.complete + 2,
    })
    expect(after.nonfinal_unknown_age).toBe(before.nonfinal_unknown_age + 2)
  })

  it('MERK-04 MERK-19 sorts unordered files and proves them', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `${i % 3 === 0 ? '\u{1f600}' : '\uff5e'}/${i}`)
    const record = exported(await addReceipt(db, 'rcpt_many'), names)
    expect(await run({ ...record, files: record.files.toReversed() })).toEqual(report({ imported: 1 }))
    const { snapshotKey } = (await findRecord(db, record.receipt_id))!
    expect(await listed(snapshotKey)).toEqual(record.files)
    for (const i of [0, 1023, 1024, 2999]) {
      const proof = (await proveFile(
        { database: { db }, proofCache: openProofCache() },
        snapshotKey,
        record.files[i]!.filename,
      ))!
      expect(proof).toMatchObject({ leafIndex: i, fileCount: 3000, file: record.files[i] })
      expect(`sha256:${foldProof(proof.leafHash, proof.proof)}`).toBe(record.merkle_root)
    }
  })

  it('reports signatures that cannot be verified, and imports their records', async () => {
    const unsigned = exported(await addReceipt(db, 'rcpt_unsigned'))
    unsigned.manifest_signature = manifestSignature(unsigned.merkle_root, null)
    const foreign = exported(await addReceipt(db, 'rcpt_foreign'), undefined, { manifest_signature: '0'.repeat(128) })
    const signed = exported(await addReceipt(db, 'rcpt_signed'))
    const unverified = [
      { ...remark(unsigned, 1), problem: 'it is unsigned' },
      { ...remark(foreign, 3), problem: 'no key that this gateway used at that time has signed it' },
    ]
    expect(await run(unsigned, signed, foreign)).toEqual(report({ imported: 3, unverified }))
    expect((await findRecord(db, 'rcpt_foreign'))!.record.manifest_signature).toBe(foreign.manifest_signature)
    expect(await run(unsigned, signed, foreign)).toEqual(report({ existing: 3, unverified }))
  })

  it('imports the valid records among invalid ones, and reports them as existing the second time', async () => {
    const first = exported(await addReceipt(db, 'rcpt_first'))
    const second = exported(await addReceipt(db, 'rcpt_second'), ['only.txt'])
    const records = [first, { unknown: true }, { ...second, file_count: 9 }, second]
    const refused: ImportReport['refused'] = [
      { at: 'line 2', lockerId: null, reason: 'malformed', problem: 'receipt_id: is missing' },
      { ...remark(second, 3), reason: 'mismatch', problem: 'file_count: the number of files is 1' },
    ]
    expect(await run(...records)).toEqual(report({ imported: 2, refused }))
    const after = await instance.everything()
    expect(await run(...records)).toEqual(report({ existing: 2, refused }))
    expect(await instance.everything()).toEqual(after)
  })

  it('recognizes an imported record after the gateway has made newer statements', async () => {
    const record = exported(await addReceipt(db, 'rcpt_older'))
    await run(record)
    const statements = await db.selectFrom('statements').selectAll().where('receipt_id', '=', 'rcpt_older').execute()
    const newer = statements.map((of) => ({ ...of, sequence: 1, statement_digest: '1'.repeat(64) }))
    await writable(db).insertInto('statements').values(newer).execute()
    const row = writable(db).updateTable('attestations').where('receipt_id', '=', 'rcpt_older')
    await row.set({ sequence: 1, status: 'computed' }).execute()
    expect(await run(record)).toEqual(report({ existing: 1 }))
    expect(await findRecord(db, 'rcpt_older', 0)).toMatchObject({ sequence: 0, status: 'computed' })
  })

  it('a dry run writes nothing and gives the same report as the import', async () => {
    const first = exported(await addReceipt(db, 'rcpt_dry'))
    const records = [first, first, { ...first, oracle_slot: 1 }, exported('rcpt_nowhere')]
    const before = await instance.everything()
    const dryRun = await instance.dryRun(...records)
    expect(await instance.everything()).toEqual(before)
    expect(dryRun).toMatchObject({ imported: 1, existing: 1 })
    expect(dryRun.refused.map(({ reason }) => reason)).toEqual(['differs', 'unknown_receipt'])
    expect(await run(...records)).toEqual(dryRun)
    expect(await instance.dryRun(first)).toEqual(report({ existing: 1 }))
  })

  it('writes a record completely or not at all', async () => {
    const record = exported(await addReceipt(db, 'rcpt_half'))
    const orphan = { receipt_id: 'rcpt_half', sequence: 0, locker_id: '', snapshot_key: '', statement_digest: null }
    await writable(db)
      .insertInto('statements')
      .values({ ...orphan, record: '{}', anchor: null, issued_at: 0 })
      .execute()
    await expect(run(record)).rejects.toThrow(/unique/i)
    expect(await findAttestation(db, 'rcpt_half')).toBeNull()
    await writable(db).deleteFrom('statements').where('receipt_id', '=', 'rcpt_half').execute()
    expect(await run(record)).toEqual(report({ imported: 1 }))
  })

  it.each<[string, string, (good: ReturnType<typeof exported>) => Exported]>([
    ['LOCK-01 the locker of another receipt', 'wrong_locker', () => ({ locker_id: 'locker_14fa9d190572' })],
    ['MERK-10 another number of files', 'mismatch', () => ({ file_count: 3 })],
    ['another byte total', 'mismatch', () => ({ total_bytes: 11 })],
    ['another root', 'mismatch', () => ({ merkle_root: `sha256:${'0'.repeat(64)}` })],
    ['another result_hash', 'mismatch', () => ({ result_hash: `sha256:${'0'.repeat(64)}` })],
    [
      'one more file',
      'mismatch',
      ({ files }) => ({ files: [...files, { ...files[0], filename: 'c' }], file_count: 3 }),
    ],
    ['a renamed file', 'mismatch', ({ files }) => ({ files: [files[0], { ...files[1], filename: 'B.txt' }] })],
    ['a time in the future', 'malformed', () => ({ attested_at: '2026-09-01T00:00:01Z' })],
    ['MERK-10 its last file twice', 'malformed', ({ files }) => ({ files: [...files, files[1]], file_count: 3 })],
    ['T-21 no files', 'malformed', () => ({ files: [], file_count: 0, total_bytes: 0 })],
  ])('refuses a record with %s, and writes nothing', async (name, reason, corrupt) => {
    const good = exported(await addReceipt(instance.db, `rcpt_${name.replace(/\W/g, '')}`))
    const before = await instance.everything()
    const corrupted = { ...good, ...corrupt(good) }
    const { refused, ...rest } = await instance.run(corrupted)
    expect(rest).toEqual({ imported: 0, existing: 0, unverified: [] })
    expect(refused).toEqual([expect.objectContaining({ at: 'line 1', reason })])
    expect(await instance.everything()).toEqual(before)
    expect(await instance.run(good)).toEqual(report({ imported: 1 }))
  })

  it('refuses a record of a receipt that this gateway does not have', async () => {
    const before = await instance.everything()
    const record = exported('rcpt_elsewhere')
    const problem = { reason: 'unknown_receipt' as const, problem: 'receipt_id: is not a receipt of this gateway' }
    expect(await instance.run(record)).toEqual(report({ refused: [{ ...remark(record, 1), ...problem }] }))
    expect(await instance.everything()).toEqual(before)
  })

  it('refuses a second record of a receipt that differs in any field, and changes nothing', async () => {
    const imported = exported(await addReceipt(instance.db, 'rcpt_kept'), ['a', 'b'], { oracle_slot: 5 })
    expect(await instance.run(imported)).toEqual(report({ imported: 1 }))
    const before = await instance.everything()
    const others = [
      exported('rcpt_kept', ['a', 'c'], { oracle_slot: 5 }),
      { ...imported, attested_at: '2025-03-01T09:30:01Z' },
      { ...imported, oracle_slot: 6 },
      { ...imported, manifest_signature: '1'.repeat(128) },
      { ...imported, files: imported.files.map((file) => ({ ...file, content_type: 'image/png' })) },
      { ...imported, oracle_slot: null, anchor: { ...(vectorRecord.anchor as Exported), slot: 5 } },
    ]
    const { refused, ...rest } = await instance.run(...others)
    expect(rest).toEqual({ imported: 0, existing: 0, unverified: [] })
    expect(refused.map(({ reason }) => reason)).toEqual(others.map(() => 'differs'))
    expect(await instance.everything()).toEqual(before)
  })

  it('refuses a record of a receipt that this gateway has attested, or whose attestation is pending', async () => {
    const pending = { status: 'pending' as const, sequence: null, manifest_version: null, attested_at: null }
    const attested = { status: 'computed' as const, sequence: 2, manifest_version: 7, attested_at: 1 }
    for (const [receiptId, state] of Object.entries({ rcpt_pending: pending, rcpt_attested: attested })) {
      const record = exported(await addReceipt(instance.db, receiptId))
      const row = { receipt_id: receiptId, locker_id: record.locker_id, proof_id: null, anchor_error: null }
      await writable(instance.db)
        .insertInto('attestations')
        .values({ ...row, ...state, status_since: 1 })
        .execute()
      const before = await instance.everything()
      expect((await instance.run(record)).refused).toEqual([expect.objectContaining({ reason: 'differs' })])
      expect(await instance.everything()).toEqual(before)
    }
  })
})
