import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Document, StatementDocument } from '../../../../src/continuity/documents.ts'
import type { EvmRegistry } from '../../../../src/publication/evm-registry/client.ts'
import { attest, statementsOf, statusOf } from '../../../evidence/attest.ts'
import { copyJournal, damage, entriesIn, replayFrom, withoutTicks, writeJournal } from './journal-lines.ts'

let instance: TestGateway
let locker: TestLocker
beforeEach(withoutTicks)
beforeEach(async () => {
  instance = await openTestGateway({ RUN_JOBS: 'false' })
  locker = await instance.locker(ed25519Identity())
})
afterEach(() => instance.close())

const db = () => writable(instance.gateway.context.database.db)

/** Stores and attests one file after the other. */
async function state(...names: string[]) {
  for (const name of names) {
    await locker.put(name, name)
    await attest(instance, locker)
  }
  return statementsOf(instance, locker)
}

/** Restores the state of a backup made before all statements. */
async function deleteStatements() {
  for (const table of ['statements', 'attestations', 'snapshots', 'snapshot_chunks'] as const)
    await db().deleteFrom(table).execute()
}

const isStatement = (sequence: number) => (document: Document) =>
  document.kind === 'statement' && document.statement.sequence === sequence
const sequences = async () => (await statementsOf(instance, locker)).map(({ sequence }) => sequence)

it('T-37 ADD-29 one replay reads journals of several processes in any order', async () => {
  const before = await state('a', 'b', 'c')
  const journal = await copyJournal(instance)
  const entries = await entriesIn(journal)
  const at = (sequence: number) => entries.findIndex(({ document }) => isStatement(sequence)(document))
  const statements = [1, 2, 3].map((sequence) => entries[at(sequence)]!)
  const chunks = entries.filter(({ document }) => document.kind === 'chunks')
  const reordered = await writeJournal(journal, [...statements.toReversed().map((entry) => [entry]), chunks])
  await deleteStatements()
  const report = await replayFrom(reordered, instance)
  expect(report).toMatchObject({ problems: [], replayed: { statement: 3 }, missing: { counts: {} } })
  expect(await statementsOf(instance, locker)).toEqual(before)
  expect((await replayFrom(reordered, instance)).replayed).toEqual({})
})

it('T-37 a replay restores no statement over a gap until the gap is accepted', async () => {
  const before = await state('a', 'b', 'c')
  const journal = await copyJournal(instance)
  await damage(journal, isStatement(2))
  await deleteStatements()
  const report = await replayFrom(journal, instance)
  expect(report.problems).toEqual([expect.stringMatching(/^statement 3 of .* follows statement 2, which is not in/)])
  expect(await sequences()).toEqual([1])
  const { accepted, missing } = await replayFrom(journal, instance, { accept: true })
  expect(accepted).toMatchObject({ counts: {}, proofs: 1, unreadable: [expect.stringContaining('is damaged')] })
  expect(missing).toMatchObject({ counts: {}, unreadable: [] })
  expect(await sequences()).toEqual([1, 3])
  const fourth = (await state('d')).at(-1)
  expect(JSON.parse(fourth!.record).envelope.body).toMatchObject({
    sequence: 4,
    prev_statement_digest: before[2]!.statement_digest,
  })
})

it('T-37 a replay restores no statement without its file list, and records accepted losses in the audit trail', async () => {
  await state('a', 'b')
  const journal = await copyJournal(instance)
  const second = (await entriesIn(journal)).find(({ document }) => isStatement(2)(document))!
  let chunks = 0
  await damage(journal, ({ kind }) => kind === 'chunks' && ++chunks === 2)
  await deleteStatements()
  const report = await replayFrom(journal, instance)
  expect(report.problems).toEqual([expect.stringContaining('incomplete list of files: 1 chunks are missing')])
  expect(report.missing).toMatchObject({ counts: { statement: 1 } })
  expect(await sequences()).toEqual([1])
  const { accepted } = await replayFrom(journal, instance, { accept: true })
  const lost = { counts: { statement: 1 }, proofs: 1, unreadable: [expect.stringContaining('is damaged')] }
  expect(accepted).toMatchObject(lost)
  const { details } = await db()
    .selectFrom('audit_log')
    .select('details')
    .where('action', '=', 'accept_losses')
    .executeTakeFirstOrThrow()
  expect(JSON.parse(details)).toMatchObject({ problems: report.problems, accepted: lost })
  expect(await statusOf(instance, locker)).toMatchObject({
    sequence: 1,
    lost_sequence: 2,
    lost_digest: (second.document as StatementDocument).key,
  })
})

it('ADD-29 a replay names the files that replayed statements list and the database lacks', async () => {
  await state('a', 'b', 'c')
  const journal = await copyJournal(instance)
  await deleteStatements()
  await db().deleteFrom('files').where('filename', '=', 'b').execute()
  await db()
    .updateTable('files')
    .set({ content_hash: '0'.repeat(64) })
    .where('filename', '=', 'c')
    .execute()
  const { lostFiles } = await replayFrom(journal, instance)
  expect(lostFiles).toEqual({ lockers: [{ lockerId: locker.lockerId, lost: 2, of: 3 }], others: 0 })
})

it('ANCH-12 ADD-29 a replayed statement is queued for the EVM registry where nothing is published first', async () => {
  await state('a', 'b')
  const journal = await copyJournal(instance)
  await deleteStatements()
  // The code only tests whether a registry is configured.
  const evmRegistry = {} as EvmRegistry
  await replayFrom(journal, instance, { primaryChain: null, evmRegistry })
  expect(await db().selectFrom('registry_entries').select(['sequence', 'state']).execute()).toEqual([
    { sequence: 2, state: 'waiting' },
  ])
})

it('LOCK-17 T-161 a replay restores the name of a locker', async () => {
  const changed = await locker.call<{ tags: string[] }>(['locker:admin'], 'POST', '/name', { name: 'Contracts' })
  expect(changed.body.tags).toContain('name:Contracts')
  const journal = await copyJournal(instance)
  await db().deleteFrom('revocations').execute()
  await db().updateTable('lockers').set({ tags: '[]' }).execute()
  expect(await replayFrom(journal, instance)).toMatchObject({ problems: [], replayed: { access: 1 } })
  expect(await db().selectFrom('lockers').select('tags').execute()).toEqual([
    { tags: JSON.stringify(changed.body.tags) },
  ])
})

it('LOG-28 T-161 a replay restores whether a locker leaves publishing to the log', async () => {
  const changed = await locker.call(['locker:admin'], 'POST', '/anchoring', { anchoring: 'log' })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  const journal = await copyJournal(instance)
  await db().deleteFrom('revocations').execute()
  await db().updateTable('lockers').set({ anchoring: 'each' }).execute()
  expect(await replayFrom(journal, instance)).toMatchObject({ problems: [], replayed: { access: 1 } })
  expect(await db().selectFrom('lockers').select('anchoring').execute()).toEqual([{ anchoring: 'log' }])
})
