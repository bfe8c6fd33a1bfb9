import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import type { TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogAnchorDocument, PublicationDocument } from '../../../../src/continuity/documents.ts'
import { LOG_ANCHORS } from '../../../../src/publication/log-anchors/anchor-log.ts'
import { watch } from '../../../../src/publication/publisher.ts'
import { STATEMENTS } from '../../../../src/publication/statements.ts'
import { attest, statementsOf, statusOf } from '../../../evidence/attest.ts'
import { askToPush, filledLocker, publicationsOf, useAnchorTestbed } from '../../../publication/anchor-testbed.ts'
import { addStatements } from '../../../publication/log/log-reader.ts'
import { forgetfully } from '../../../publication/node-faults.ts'
import { copyJournal, damage, replayFrom, withoutTicks } from './journal-lines.ts'

const testbed = useAnchorTestbed()
const KEYS = { RUN_JOBS: 'false', LOG_KEY: '0b'.repeat(32), CHAIN_WAIT_SECONDS: 'anchor=0', PUBLISH: 'on_request' }

describe.each(['sqlite', 'postgres'] as const)('replay of anchors (%s)', { tags: ['nightly'] }, (dialect) => {
  let database: FreshDatabase
  let instance: TestGateway
  let locker: TestLocker
  beforeEach(withoutTicks)
  beforeEach(async () => {
    database = await createFreshDatabase(dialect)
    instance = await testbed.open({ ...KEYS, DATABASE_URL: database.url })
    locker = await filledLocker(instance)
  })
  afterEach(async () => {
    await instance.close()
    await database.drop()
  })
  const db = () => writable(instance.gateway.context.database.db)

  async function publish(text: string) {
    await locker.put('a', text)
    const { envelope } = (await attest(instance, locker)).attestation
    await askToPush(instance, locker)
    await settle()
    return envelope!
  }

  async function settle() {
    testbed.chain.settle()
    testbed.clock.advance(60)
    await watch(instance.gateway.context, STATEMENTS)
  }

  /** Restores the state of a backup made before these rows. */
  async function deleteRows(
    ...tables: ('publications' | 'statements' | 'attestations' | 'log_anchors' | 'snapshot_chunks')[]
  ) {
    for (const table of tables) await db().deleteFrom(table).execute()
    await db().updateTable('statements').set({ anchor: null }).execute()
  }

  it('T-37 ADD-29 restores anchors with their outcomes without calling a node', async () => {
    for (const text of ['1', '2', '3']) await publish(text)
    const anchorsAndStatements = async () => [
      await publicationsOf(instance, locker),
      await statementsOf(instance, locker),
    ]
    const before = await anchorsAndStatements()
    const journal = await copyJournal(instance)
    await deleteRows('publications')
    const asked = testbed.node.calls.length
    const report = await replayFrom(journal, instance, { primaryChain: null })
    expect([report.problems, report.missing.counts]).toEqual([[], {}])
    expect(testbed.node.calls.slice(asked)).toEqual([])
    expect(await anchorsAndStatements()).toEqual(before)
    expect((await replayFrom(journal, instance)).replayed).toEqual({})
  })

  it('T-37 names the missing setting when an open transaction cannot be looked up', async () => {
    await publish('1')
    await locker.put('a', '2')
    await attest(instance, locker)
    testbed.node.behave(forgetfully)
    await askToPush(instance, locker)
    testbed.node.behave(honestly)
    const outcome = (document: object) => (document as PublicationDocument).publication?.state !== 'sent'
    const journal = await copyJournal(instance)
    await damage(journal, (document) => document.kind === 'publication' && outcome(document))
    await deleteRows('publications')
    const report = await replayFrom(journal, instance, { primaryChain: null })
    expect(report.problems).toEqual([expect.stringContaining('PRIMARY_RPC_URLS is not set: the transaction')])
    // With a node, the first transaction is looked up, so the second can follow it.
    const withNode = await replayFrom(journal, instance)
    expect(withNode.problems).toEqual([])
    expect((await publicationsOf(instance, locker)).map(({ state }) => state)).toEqual([
      expect.stringMatching(/landed|finalized/),
      'sent',
    ])
  })

  it('T-37 restores no anchor without its statement, and never signs that sequence number again', async () => {
    const first = await publish('1')
    const other = await filledLocker(instance)
    await attest(instance, other)
    await askToPush(instance, other)
    await settle()
    const journal = await copyJournal(instance)
    await damage(journal, ({ kind, key }) => kind === 'statement' && key === first.statement_digest)
    await deleteRows('publications', 'statements', 'attestations')
    const report = await replayFrom(journal, instance)
    expect(report.problems).toEqual([expect.stringContaining(`publishes statement 1 of ${first.body.proof_id}`)])
    // The chain reports it, too, although a later transaction is known.
    expect(report.missing).toMatchObject({
      counts: { publication: 1, statement: 1 },
      statements: [{ proofId: first.body.proof_id, sequence: 1 }],
      unreadable: [expect.stringContaining('is damaged')],
    })
    const { accepted } = await replayFrom(journal, instance, { accept: true })
    expect(accepted).toMatchObject({
      counts: { publication: 1, statement: 1 },
      proofs: 1,
      unreadable: [expect.anything()],
    })
    await settle()
    const second = await publish('2')
    expect([second.body.sequence, second.body.prev_statement_digest]).toEqual([2, first.statement_digest])
  })

  it('T-37 does not sign a statement again when the journal has only its anchor', async () => {
    const first = await publish('1')
    const lost = ({ kind, key }: { kind: string; key: string }) =>
      kind === 'statement' && key === first.statement_digest
    const journal = await copyJournal(instance)
    await damage(journal, lost)
    await deleteRows('publications', 'statements', 'attestations')
    await replayFrom(journal, instance, { accept: true, primaryChain: null })
    expect(await statusOf(instance, locker)).toMatchObject({ lost_sequence: 1, lost_digest: first.statement_digest })
  })

  it('LOG-24 T-19 restores all log anchors that a backup lacks', async () => {
    const { context } = instance.gateway
    const rows = () => db().selectFrom('log_anchors').selectAll().orderBy('size').execute()
    for (let i = 0; i < 3; i++) {
      await addStatements(instance.gateway.context.database.db, 1)
      await context.publishLog()
      testbed.clock.advance(3600)
      await watch(context, LOG_ANCHORS)
      testbed.clock.advance(60)
    }
    const before = await rows()
    const journal = await copyJournal(instance)
    await deleteRows('log_anchors')
    expect(await replayFrom(journal, instance)).toMatchObject({ problems: [], missing: { counts: {} } })
    expect(await rows()).toEqual(before)

    // Outcomes missing from the journal come from the chain.
    const hasOutcome = (document: object) => (document as LogAnchorDocument).anchor?.state !== 'sent'
    await damage(journal, (document) => document.kind === 'log_anchor' && hasOutcome(document))
    await deleteRows('log_anchors')
    const report = await replayFrom(journal, instance)
    expect([report.problems, report.missing.counts]).toEqual([[], {}])
    expect((await rows()).map(({ tx }) => tx)).toEqual(before.map(({ tx }) => tx))
    expect((await rows()).at(-1)?.state).toBe('sent')
  })
})
