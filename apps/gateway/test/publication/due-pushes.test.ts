import type { AttestHealth } from '@svc/api/internal-attestations'
import type { LockerUsage } from '@svc/api/usage'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { beforeEach, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { attest, queueToAttest, statusOf } from '../evidence/attest.ts'
import { scrape } from '../views/metrics/scrape.ts'
import { askToPush, expectAnchors, filledLocker, push, transactionsOf, useAnchorTestbed } from './anchor-testbed.ts'
import { DOWN, downFor } from './node-faults.ts'

/** Longer than any retry delay. */
const LATER = 2 * 3600

forEachDatabase('a push that is due', (database) => {
  const testbed = useAnchorTestbed()
  const variables = () => ({ DATABASE_URL: database.url, LOG_ANCHOR_SECONDS: '0' })
  const instance = forAllTests(() => testbed.open(variables()))
  /** This gateway publishes only on request. */
  const manual = forAllTests(() => testbed.open({ ...variables(), PUBLISH: 'on_request' }))
  const locker = forEachTest(() => filledLocker(instance))
  const later = (seconds: number) => {
    testbed.clock.advance(seconds)
    return instance.gateway.context.queue.drain()
  }

  beforeEach(async () => {
    // Publish the remaining pushes of earlier tests.
    await later(LATER)
  })

  /** Repeats the job until the queue has used all attempts. */
  async function runOutOfAttempts(): Promise<void> {
    testbed.node.behave(DOWN)
    await queueToAttest(instance, locker)
    for (let run = 0; run < 13; run++) await later(LATER)
  }

  it('ATT-04 ANCH-11 is retried without limit, and publishes the statement without a request once the chain is back', async () => {
    await runOutOfAttempts()
    expect(await instance.gateway.context.queue.deadLetters()).toEqual([])
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => later(LATER))).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true])
    expect(await transactionsOf(testbed.chain, () => later(LATER))).toBe(0)
  })

  it('ATT-04 T-34 is retried once an hour while the chain is unavailable', async () => {
    await runOutOfAttempts()
    testbed.node.behave(downFor('getLatestBlockhash'))
    const tries = () => testbed.node.calls.filter((method) => method === 'getLatestBlockhash').length
    const before = tries()
    for (let minute = 0; minute < 60; minute++) await later(60)
    expect(tries() - before).toBe(1)
  })

  it('INT-03 VER-20 appears in the metrics and in attest-health, with its error, until it is published', async () => {
    await runOutOfAttempts()
    const failed = async () => (await scrape(instance.gateway.url)).value('svc_failed_publications')
    const health = async () => (await instance.send<AttestHealth>('GET', '/v1/internal/attest-health')).body.anchors
    expect(await failed()).toBe(1)
    expect((await health())?.retrying).toEqual({ count: 1, last_error: expect.stringContaining('rpc_unavailable') })
    testbed.node.behave(honestly)
    await later(LATER)
    testbed.clock.advance(60)
    await expect.poll(failed).toBe(0)
    expect(await health()).not.toHaveProperty('retrying')
  })

  it('ATT-04 ATT-11 follows a failed push of the owner, but no statement without a requested push', async () => {
    await attest(manual, locker)
    const other = await filledLocker(instance)
    await attest(manual, other)
    testbed.node.behave(DOWN)
    expectRefusal(await askToPush(manual, locker), 502, 'anchor_failed')
    const next = async () => (await locker.call<LockerUsage>(['locker:read'], 'GET', '/usage')).body.next_anchor
    expect(await next()).toEqual({ reason: 'publishing', at: null })
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => later(14))).toBe(0)
    expect(await transactionsOf(testbed.chain, () => later(LATER))).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true])
    await expectAnchors(instance, testbed.chain, other, [false])
    expect(await next()).toBeNull()
  })

  it('ADD-14 ATT-04 ends when a newer statement is not to be published', async () => {
    await attest(manual, locker)
    testbed.node.behave(DOWN)
    await askToPush(manual, locker)
    await locker.put('b', 'b')
    await attest(manual, locker)
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => later(LATER))).toBe(0)
    await expectAnchors(instance, testbed.chain, locker, [false, false])
  })

  it('ANCH-11 is queued again when its job is lost, and dropped when an older release has published the statement', async () => {
    testbed.node.behave(DOWN)
    await attest(manual, locker)
    await askToPush(manual, locker)
    testbed.node.behave(honestly)
    const { db } = manual.gateway.context.database
    const setDue = (push_at: number) =>
      writable(db).updateTable('attestations').set({ push_at }).where('receipt_id', '=', locker.receiptId).execute()
    const dueAt = async () => (await statusOf(instance, locker))?.push_at
    const seconds = Math.floor(testbed.clock.now() / 1000)
    await setDue(seconds + 3600)
    await push(instance, locker)
    expect(await dueAt()).toBeNull()
    await setDue(seconds)
    expect(await transactionsOf(testbed.chain, () => later(15))).toBe(0)
    expect(await dueAt()).toBeNull()
  })
})

forEachDatabase('the migration to due pushes', (database) => {
  it('ADD-31 ATT-04 makes exactly the pushes due that release 1.1.0 abandoned', async () => {
    const { '0049-due-pushes': _, ...before } = migrations
    const old = await database.open<Schema>(before)
    const error = (retryable: boolean) => JSON.stringify({ error: 'rpc_unavailable', retryable })
    const rows = [
      { receipt_id: 'due', status: 'computed', anchor_error: error(true) },
      { receipt_id: 'stays', status: 'computed', anchor_error: error(false) },
      { receipt_id: 'unpublished', status: 'computed', anchor_error: null },
    ] as const
    await writable(old.db)
      .insertInto('attestations')
      .values(rows.map((row) => ({ locker_id: 'locker', ...row })))
      .execute()
    const { db } = await database.open<Schema>(migrations)
    const due = await db.selectFrom('attestations').select(['receipt_id', 'push_at']).orderBy('receipt_id').execute()
    expect(due).toEqual([
      { receipt_id: 'due', push_at: 0 },
      { receipt_id: 'stays', push_at: null },
      { receipt_id: 'unpublished', push_at: null },
    ])
  })
})
