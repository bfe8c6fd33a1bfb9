import { forEachDatabase } from '@svc/devnet/databases'
import { manifestSignature } from '@svc/protocol/attestation'
import { verificationFacts } from '@svc/protocol/facts'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { foldProof } from '@svc/protocol/merkle'
import { beforeAll, expect, it } from 'vitest'
import { attestationCounts } from '../../../src/attestations/health.ts'
import { type ImportReport, importRecords } from '../../../src/attestations/import/import-records.ts'
import { createProveFile } from '../../../src/attestations/snapshots/prove-file.ts'
import { snapshotFiles } from '../../../src/attestations/snapshots/read-snapshot.ts'
import { findAttestation, findRecord } from '../../../src/attestations/store.ts'
import type { Db } from '../../../src/db/schema.ts'
import { addReceipt, type Exported, entriesOf, exported, listOf, signerHex, vectorRecord } from './export-records.ts'
import { type ImportDatabase, openImportDatabase, remark, report } from './import-database.ts'

forEachDatabase('importing records of the oracle era', (database) => {
  let house: ImportDatabase
  let db: Db
  beforeAll(async () => {
    house = await openImportDatabase(database)
    db = house.db
  })
  const run = (...records: Exported[]) => house.run(...records)

  async function listed(snapshotKey: string) {
    return (await listOf(snapshotFiles(db, snapshotKey))).flat()
  }

  it('ANCH-09 VER-15 stores a record of an independent implementation unchanged', async () => {
    await addReceipt(db, vectorRecord.receipt_id as string)
    expect(await run(vectorRecord)).toEqual(report({ imported: 1 }))

    const { receipt_id, locker_id, files, anchor, ...fields } = vectorRecord
    const kept = await findRecord(db, receipt_id as string)
    expect(kept).toEqual({
      receiptId: receipt_id,
      lockerId: locker_id,
      sequence: 0,
      snapshotKey: expect.any(String),
      record: fields,
      status: null,
      anchor,
      anchorError: null,
      anchorAbsence: null,
    })
    const wanted = (files as { content_hash: string }[]).map((file) => ({
      ...file,
      content_hash: `sha256:${file.content_hash}`,
      content_type: 'application/octet-stream',
    }))
    expect(await listed(kept!.snapshotKey)).toEqual(wanted)
    expect(await findAttestation(db, receipt_id as string)).toEqual({
      receipt_id,
      locker_id,
      proof_id: null,
      status: null,
      sequence: 0,
      manifest_version: null,
      attested_at: Date.parse(fields.attested_at as string) / 1000,
      status_since: null,
      anchor_error: null,
      deferral: null,
      whole_budget_at: null,
    })
  })

  it('ATT-23 STATE-14 INT-03 VER-05 VER-06 VER-07 gives an imported record the facts it had before, and counts one without a transaction as in flight', async () => {
    const { anchor: _, ...oracle } = vectorRecord
    const tx = { oracle_tx: oracle.oracle_tx, oracle_slot: 5 }
    const records = [
      exported(await addReceipt(db, 'rcpt_final'), undefined, tx),
      exported(await addReceipt(db, 'rcpt_complete'), undefined, { ...tx, attestation_status: 'complete' }),
      exported(await addReceipt(db, 'rcpt_computed'), undefined, { ...tx, attestation_status: 'computed' }),
      exported(await addReceipt(db, 'rcpt_bare')),
    ]
    const health = () => attestationCounts({ database: house.database, now: house.context.now })
    const before = await health()
    expect(await run(...records)).toEqual(report({ imported: 4 }))
    const facts = await Promise.all(
      records.map(async ({ receipt_id }) => {
        const { record, status, anchor } = (await findRecord(db, receipt_id))!
        const { commitment_computed, signature_valid, anchor_confirmed } = verificationFacts(
          { ...record, attestation_status: status, anchor, envelope: null, check_mode: null },
          { key: ed25519PublicKeyFromHex(signerHex), domainTag: '' },
        )
        return [commitment_computed, signature_valid, anchor_confirmed]
      }),
    )
    expect(facts).toEqual([
      ['passed', 'passed', 'passed'],
      ['passed', 'passed', 'passed'],
      ['passed', 'passed', 'not_checked'],
      ['passed', 'passed', 'not_checked'],
    ])
    const statuses = await Promise.all(
      records.map(async ({ receipt_id }) => (await findRecord(db, receipt_id))?.status),
    )
    expect(statuses).toEqual([null, 'complete', 'computed', 'computed'])
    const after = await health()
    expect(after.counts).toEqual({
      ...before.counts,
      computed: before.counts.computed + 2,
      complete: before.counts.complete + 2,
    })
    expect(after.nonfinal_unknown_age).toBe(before.nonfinal_unknown_age + 2)
  })

  it('MERK-04 MERK-19 sorts files that are in another order, and proves them', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `${i % 3 === 0 ? '\u{1f600}' : '\uff5e'}/${i}`)
    const record = exported(await addReceipt(db, 'rcpt_many'), names)
    expect(await run({ ...record, files: record.files.toReversed() })).toEqual(report({ imported: 1 }))
    const { snapshotKey } = (await findRecord(db, record.receipt_id))!
    expect(await listed(snapshotKey)).toEqual(record.files)
    for (const i of [0, 1023, 1024, 2999]) {
      const proof = (await createProveFile(db)(snapshotKey, record.files[i]!.filename))!
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
      { ...remark(foreign, 3), problem: 'no key that this gateway has from that time has signed it' },
    ]
    expect(await run(unsigned, signed, foreign)).toEqual(report({ imported: 3, unverified }))
    expect((await findRecord(db, 'rcpt_foreign'))!.record.manifest_signature).toBe(foreign.manifest_signature)
    expect(await run(unsigned, signed, foreign)).toEqual(report({ existing: 3, unverified }))
  })

  it('verifies a signature with the keys of the time of the record', async () => {
    const record = exported(await addReceipt(db, 'rcpt_time'), undefined, { attested_at: '2025-03-01T09:30:00.999Z' })
    const asked: number[] = []
    const keysAt = async (time: number) => {
      asked.push(time)
      return house.context.keysAt(time)
    }
    expect(await importRecords({ ...house.context, keysAt }, entriesOf(record))).toEqual(report({ imported: 1 }))
    expect(asked).toEqual([Date.UTC(2025, 2, 1, 9, 30) / 1000])
  })

  it('imports the good records around bad ones, and finds them existing the second time', async () => {
    const first = exported(await addReceipt(db, 'rcpt_first'))
    const second = exported(await addReceipt(db, 'rcpt_second'), ['only.txt'])
    const records = [first, { unknown: true }, { ...second, file_count: 9 }, second]
    const refused: ImportReport['refused'] = [
      { at: 'line 2', lockerId: null, reason: 'malformed', problem: 'receipt_id: is missing' },
      { ...remark(second, 3), reason: 'mismatch', problem: 'file_count: the files are 1' },
    ]
    expect(await run(...records)).toEqual(report({ imported: 2, refused }))
    const after = await house.everything()
    expect(await run(...records)).toEqual(report({ existing: 2, refused }))
    expect(await house.everything()).toEqual(after)
  })

  it('finds an imported record after the gateway has made newer statements', async () => {
    const record = exported(await addReceipt(db, 'rcpt_older'))
    await run(record)
    const statement = await db
      .selectFrom('statements')
      .selectAll()
      .where('receipt_id', '=', 'rcpt_older')
      .executeTakeFirstOrThrow()
    await db
      .insertInto('statements')
      .values({ ...statement, sequence: 1, statement_digest: '1'.repeat(64) })
      .execute()
    await db
      .updateTable('attestations')
      .set({ sequence: 1, status: 'computed' })
      .where('receipt_id', '=', 'rcpt_older')
      .execute()
    expect(await run(record)).toEqual(report({ existing: 1 }))
    expect(await findRecord(db, 'rcpt_older', 0)).toMatchObject({ sequence: 0, status: 'computed' })
  })

  it('writes nothing in a dry run, and reports what the import then reports', async () => {
    const first = exported(await addReceipt(db, 'rcpt_dry'))
    const records = [first, first, { ...first, oracle_slot: 1 }, exported('rcpt_nowhere')]
    const before = await house.everything()
    const dryRun = await house.dryRun(...records)
    expect(await house.everything()).toEqual(before)
    expect(dryRun).toMatchObject({ imported: 1, existing: 1 })
    expect(dryRun.refused.map(({ reason }) => reason)).toEqual(['differs', 'unknown_receipt'])
    expect(await run(...records)).toEqual(dryRun)
    expect(await house.dryRun(first)).toEqual(report({ existing: 1 }))
  })

  it('keeps what it has imported if it fails in the middle, and continues the next time', async () => {
    const records: Exported[] = []
    for (const name of ['rcpt_c1', 'rcpt_c2', 'rcpt_c3']) records.push(exported(await addReceipt(db, name)))
    async function* cutOff() {
      yield* entriesOf(...records.slice(0, 2))
      throw new Error('the disk is gone')
    }
    await expect(importRecords(house.context, cutOff())).rejects.toThrow('the disk is gone')
    expect(await findRecord(db, 'rcpt_c2')).not.toBeNull()
    expect(await findRecord(db, 'rcpt_c3')).toBeNull()
    expect(await run(...records)).toEqual(report({ imported: 1, existing: 2 }))
  })

  it('writes a record completely or not at all', async () => {
    const record = exported(await addReceipt(db, 'rcpt_half'))
    const orphan = { receipt_id: 'rcpt_half', sequence: 0, locker_id: '', snapshot_key: '', statement_digest: null }
    await db
      .insertInto('statements')
      .values({ ...orphan, record: '{}', anchor: null, issued_at: 0 })
      .execute()
    await expect(run(record)).rejects.toThrow(/unique/i)
    expect(await findAttestation(db, 'rcpt_half')).toBeNull()
    await db.deleteFrom('statements').where('receipt_id', '=', 'rcpt_half').execute()
    expect(await run(record)).toEqual(report({ imported: 1 }))
  })

  it('imports each record once if two imports run at the same time', async () => {
    const records: Exported[] = []
    for (let i = 0; i < 10; i++) records.push(exported(await addReceipt(db, `rcpt_race_${i}`), [`${i}.txt`]))
    const reports = await Promise.all([run(...records), run(...records)])
    expect(reports.reduce((sum, { imported }) => sum + imported, 0)).toBe(10)
    expect(reports.reduce((sum, { existing }) => sum + existing, 0)).toBe(10)
    expect(reports.flatMap(({ refused }) => refused)).toEqual([])
  })
})
