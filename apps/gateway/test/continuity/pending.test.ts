// A process commits a change and is disconnected before it writes it to its journal: the others write it before they
// show it to anyone.

import type { Commit } from '@svc/database/commit'
import { readJournal } from '@svc/database/journal/journal'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { seedLocker, seedReceipt } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { lockerId } from '@svc/protocol/ids'
import { expect, it } from 'vitest'
import type { Context } from '../../src/context.ts'
import { createChangeAccess } from '../../src/continuity/access-changes.ts'
import type { DocumentId } from '../../src/continuity/document-id.ts'
import type { Document } from '../../src/continuity/documents.ts'
import { recordPending } from '../../src/continuity/store.ts'
import type { Schema } from '../../src/db/schema.ts'
import { attest } from '../../src/evidence/attest.ts'
import { removeOperator } from '../../src/lockers/operators.ts'
import { announceKey } from '../../src/views/admin/keys/announce-key.ts'
import { askToAttest, statementsOf } from '../evidence/attest.ts'
import { healthIn } from './health.ts'
import { openRestorable } from './restorable.ts'

/** Commits, and is disconnected before it writes to its journal. */
function disconnectBeforeJournal<Module extends Context>(context: Module): Module {
  const commit: Commit<Schema, DocumentId> = (work) =>
    writable(context.database.db)
      .transaction()
      .execute(async (tx) => {
        const documents: DocumentId[] = []
        const result = await work(tx, (...more) => void documents.push(...more))
        await recordPending(tx, documents)
        return result
      })
  const now = () => Math.floor(context.now() / 1000)
  const changeAccess = createChangeAccess(commit, now, async () => {})
  return {
    ...context,
    database: { ...context.database, commit },
    continuity: { ...context.continuity, changeAccess },
  }
}

forEachDatabase('a change that a process committed but did not write to its journal', (database) => {
  const [owner, operator] = [ed25519Identity(), ed25519Identity()]
  const gateway = forAllTests(() => openRestorable(database))
  const context = () => gateway.instance().gateway.context
  const seed = { owner: owner.identity }

  async function pending(...documents: DocumentId[]): Promise<void> {
    await recordPending(writable(context().database.db), documents)
  }

  /** The entries that the journal gains by this work. */
  async function gains(work: () => Promise<{ status: number }>, status = 200): Promise<string[]> {
    const { folder, sealing } = context().continuity.location!
    const read = async () => {
      const found: string[] = []
      for await (const entry of readJournal(folder, sealing, new Map())) {
        if ('problem' in entry) throw new Error(entry.problem)
        const { document } = JSON.parse(entry.entry) as { document: Document }
        found.push(document.kind === 'access' ? document.change.what : `${document.kind} ${document.key}`)
      }
      return found
    }
    await healthIn(gateway.instance().gateway, 'current')
    const before = await read()
    const reply = await work()
    expect(reply.status, JSON.stringify(reply)).toBe(status)
    return (await read()).slice(before.length)
  }

  it('T-37 is written before receipts and lockers are shown or opened', async () => {
    const { call, send } = gateway.instance()
    const first = await seedReceipt(context(), seed)
    const receipt = (key: string) => ({ kind: 'receipt', key }) as const
    await pending(receipt(first.receipt_id))
    const tx = 'z'.repeat(88)
    const stored = writable(context().database.db).updateTable('receipts').set({ tx })
    await stored.where('receipt_id', '=', first.receipt_id).execute()
    const byPayment = () => send('GET', `/v1/internal/receipts?tx=${tx}`)
    expect(await gains(byPayment)).toEqual([`receipt ${first.receipt_id}`])

    const { receipt_id } = await seedReceipt(context(), seed)
    await pending(receipt(receipt_id))
    const locker = `locker ${lockerId(receipt_id)}`
    const provision = async () => {
      const opened = await gateway.instance().locker(owner, { receiptId: receipt_id })
      return opened.call(['locker:read'], 'GET', '/record')
    }
    expect(await gains(provision)).toEqual([`receipt ${receipt_id}`, locker])

    const listed = await seedLocker(context(), seed)
    await pending(receipt(listed.receipt_id), { kind: 'locker', key: listed.locker_id })
    const list = () =>
      call(owner, {
        path: `/v1/lockers?wallet=${owner.identity}`,
        ops: ['locker:list'],
        envelope: { aud: gateway.instance().gateway.url },
      })
    expect((await gains(list)).sort()).toEqual([`locker ${listed.locker_id}`, `receipt ${listed.receipt_id}`])

    const read = await seedLocker(context(), seed)
    await pending({ kind: 'locker', key: read.locker_id })
    const path = `/v1/lockers/${read.locker_id}/record`
    const ids = { lockerId: read.locker_id, receiptId: read.receipt_id }
    const record = () => call(owner, { path, ops: ['locker:read'], ...ids })
    expect(await gains(record)).toEqual([`locker ${read.locker_id}`])
    for (const again of [byPayment, list, record]) expect(await gains(again)).toEqual([])
  })

  it('T-37 T-161 is written before a statement that follows it is signed', async () => {
    const locker = await gateway.locker(owner)
    await locker.put('a', '1')
    const { record } = await attest(disconnectBeforeJournal(context()), {
      locker_id: locker.lockerId,
      receipt_id: locker.receiptId,
    })
    await locker.put('a', '2')
    const next = () => askToAttest(gateway.instance(), locker)
    const gained = await gains(next)
    const [, second] = await statementsOf(gateway.instance(), locker)
    expect(gained.filter((name) => name.startsWith('statement'))).toEqual([
      `statement ${record.record.envelope!.statement_digest}`,
      `statement ${second!.statement_digest}`,
    ])
  })

  it('T-37 T-161 is written before a repeated change of access is refused, and before keys are shown', async () => {
    const { lockerId: locker_id, call } = await gateway.locker(owner, [operator])
    const { database } = context()
    const row = () =>
      database.db.selectFrom('lockers').selectAll().where('locker_id', '=', locker_id).executeTakeFirstOrThrow()
    await removeOperator(disconnectBeforeJournal(context()), await row(), operator.identity)
    const keys = () => gateway.instance().send('GET', '/v1/keys')
    // The list of keys shows nothing of lockers.
    expect(await gains(keys)).toEqual([])
    const removeAgain = () => call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
    expect(await gains(removeAgain, 404)).toEqual(['operator'])
    expect(await gains(removeAgain, 404)).toEqual([])

    const order = {
      publicKeyHex: 'ab'.repeat(32),
      start: Math.floor(context().now() / 1000) + 86_400,
      reason: 'a test',
    }
    await announceKey(disconnectBeforeJournal(context()), { identity: 'a test' }, order)
    expect(await gains(keys)).toEqual(['key_announced'])
  })
})
