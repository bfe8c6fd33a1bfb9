import { randomBytes } from 'node:crypto'
import type { AttestHealth } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { call } from '@svc/devnet/primary-chain/dev-client'
import type { TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { toBase58 } from '@svc/protocol/bytes'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { PublicationTable } from '../../src/db/schema.ts'
import { NotPublished } from '../../src/publication/errors.ts'
import { watch } from '../../src/publication/publisher.ts'
import {
  recordFinalized,
  recordLanded,
  recordLost,
  recordNotSent,
  recordPending,
} from '../../src/publication/record-outcome.ts'
import { STATEMENTS } from '../../src/publication/statements.ts'
import { attest, statementsOf, statusOf } from '../evidence/attest.ts'
import {
  expectAnchors,
  filledLocker,
  publicationsOf,
  push,
  transactionsOf,
  useAnchorTestbed,
} from './anchor-testbed.ts'
import { forgetfully } from './node-faults.ts'

const testbed = useAnchorTestbed()

/** Makes the expiry of every transaction outside a block final. */
function expire(): void {
  testbed.chain.expireBlockhashes()
  testbed.clock.advance(2)
}

const allAre =
  (status: object) =>
  ({ value, ...rest }: { value: unknown[] }) => ({ ...rest, value: value.map(() => status) })

forEachDatabase('watching publications', (database) => {
  let instance: TestGateway
  /** A gateway that does not wait for an outcome. */
  let noWait: TestGateway
  let locker: TestLocker
  beforeAll(async () => {
    instance = await testbed.open({ DATABASE_URL: database.url })
    noWait = await testbed.open({ DATABASE_URL: database.url, CHAIN_WAIT_SECONDS: 'anchor=0' })
  })
  beforeEach(async () => {
    // Finish the publications of earlier tests.
    await drain()
    await writable(instance.gateway.context.database.db).deleteFrom('publications').execute()
    locker = await filledLocker(instance)
  })
  const watchStatements = (of = instance) => watch(of.gateway.context, STATEMENTS)
  const drain = () => instance.gateway.context.queue.drain()
  const anchorError = async () => JSON.parse((await statusOf(instance, locker))?.anchor_error ?? 'null')

  it('ANCH-07 the anchor of an older statement becomes final without changing the newer statement', async () => {
    await attest(instance, locker)
    await locker.put('b', 'b')
    await instance.send('POST', '/v1/internal/attest', { receipt_id: locker.receiptId, push: false })
    testbed.chain.settle()
    await watchStatements()
    const [anchor] = await expectAnchors(instance, testbed.chain, locker, [true, false])
    expect(anchor).toMatchObject({ finalized: true })
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed', sequence: 2 })
  })

  it('ATT-03 ATT-04 an anchor that the chain has lost is withdrawn, and its statement is published again', async () => {
    const { anchor } = (await attest(instance, locker)).push_result
    testbed.chain.hold()
    await drain()
    const { wire } = testbed.chain.transaction(anchor!.tx)!
    testbed.chain.fork({ drop: [anchor!.tx] })
    await watchStatements()
    // The transaction can still be sent again until it has expired.
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'complete' })
    expire()
    await watchStatements()
    await expectAnchors(instance, testbed.chain, locker, [false])
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed' })
    expect(await anchorError()).toMatchObject({ retryable: true, ambiguous: false, tx_signature: anchor?.tx })
    testbed.chain.resume()
    await call(testbed.chainUrl, 'sendTransaction', [wire, { encoding: 'base64', skipPreflight: true }])
    expect(await transactionsOf(testbed.chain, drain)).toBe(1)
    const [second] = await expectAnchors(instance, testbed.chain, locker, [true])
    expect(second?.tx).not.toBe(anchor?.tx)
    expect((await publicationsOf(instance, locker)).map(({ state }) => state).toSorted()).toEqual(['expired', 'landed'])
  })

  it('ATT-03 an anchor whose transaction failed is withdrawn, and its statement is published again', async () => {
    const { anchor } = (await attest(instance, locker)).push_result
    await drain()
    const failed = { slot: 1, confirmations: null, err: 'AccountInUse', confirmationStatus: 'finalized' }
    testbed.node.behave(withResult('getSignatureStatuses', allAre(failed)))
    await watchStatements()
    await expectAnchors(instance, testbed.chain, locker, [false])
    expect(await anchorError()).toMatchObject({ tx_signature: anchor?.tx, ambiguous: false })
    expect(await publicationsOf(instance, locker)).toMatchObject([{ state: 'failed' }])
  })

  it('T-19 T-37 a transaction that was recorded but not sent is sent once, and only after the journal has it', async () => {
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    testbed.node.behave(honestly)
    const { tx } = (await publicationsOf(instance, locker))[0]!
    await watchStatements()
    expect(testbed.chain.transaction(tx)).toBeUndefined()
    // The watch skips a transaction while a push may wait for it. Then one run sends it, and the next finds it.
    testbed.clock.advance(35)
    const { context } = instance.gateway
    const requireWritten = () => Promise.reject(new Error('the disk is full'))
    const full = { ...context, continuity: { ...context.continuity, requireWritten } }
    const sent = await transactionsOf(testbed.chain, async () => {
      await expect(watch(full, STATEMENTS)).rejects.toThrow('the disk is full')
      expect(testbed.chain.transaction(tx)).toBeUndefined()
      await watchStatements()
      expect(await anchorError()).toMatchObject({ ambiguous: true, tx_signature: tx })
      testbed.chain.settle()
      await watchStatements()
    })
    expect(sent).toBe(1)
    expect(await expectAnchors(instance, testbed.chain, locker, [true])).toMatchObject([{ tx }])
    expect(await drain()).toMatchObject({ failed: 0, dead: 0 })
  })

  it('T-19 watching changes nothing while no node answers, and then records expired transactions as lost', async () => {
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    testbed.clock.advance(100)
    testbed.node.behave(() => ({ status: 503, body: 'out of order' }))
    await watchStatements()
    expect(await publicationsOf(instance, locker)).toMatchObject([{ state: 'sent' }])
    expect(await anchorError()).toMatchObject({ ambiguous: true })
    testbed.node.behave(honestly)
    expire()
    await watchStatements()
    const [lost] = await publicationsOf(instance, locker)
    expect(lost).toMatchObject({ state: 'expired' })
    expect(await anchorError()).toMatchObject({ retryable: true, ambiguous: false, tx_signature: lost!.tx })
    expect(await transactionsOf(testbed.chain, () => push(instance, locker))).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true])
  })

  it('INT-03 failed attempts do not reset the waiting time of a statement', async () => {
    const ageOf = async () =>
      (await instance.send<AttestHealth>('GET', '/v1/internal/attest-health')).body.oldest_nonfinal_age_sec
    await writable(instance.gateway.context.database.db).deleteFrom('attestations').execute()
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    testbed.clock.advance(100)
    await watchStatements()
    expect(await ageOf()).toBe(100)
    expire()
    await watchStatements()
    expect(await ageOf()).toBe(102)
    testbed.node.behave(honestly)
    await push(instance, locker)
    expect(await ageOf()).toBeNull()
  })
})

it('ANCH-07 ATT-12 watching makes no call when nothing has been published or publishing is off', async () => {
  const [instance, off] = [await testbed.open(), await testbed.open({ ANCHORS: 'off' })]
  const asked = testbed.node.calls.length
  for (const { gateway } of [instance, off]) await watch(gateway.context, STATEMENTS)
  expect(testbed.node.calls.slice(asked)).toEqual([])
  expect(Object.keys(await off.gateway.context.queue.counts())).not.toContain('watch-publications')
})

it('T-19 ANCH-07 asks for many publications in pages that nodes accept', {
  tags: ['nightly'],
}, async () => {
  const instance = await testbed.open()
  const locker = await filledLocker(instance)
  await attest(instance, locker)
  const { db } = instance.gateway.context.database
  const [landed] = await publicationsOf(instance, locker)
  const rows = Array.from({ length: 260 }, (_, i) => ({
    ...landed!,
    tx: toBase58(randomBytes(64)),
    sequence: 1000 + i,
    sent_at: 0,
  }))
  await writable(db).insertInto('publications').values(rows).execute()
  expire()
  const open = async () =>
    (await publicationsOf(instance, locker)).filter(({ state, sequence }) => state === 'landed' && sequence >= 1000)
  await watch(instance.gateway.context, STATEMENTS)
  expect(await open()).toHaveLength(4)
  await watch(instance.gateway.context, STATEMENTS)
  expect(await open()).toEqual([])
  await expectAnchors(instance, testbed.chain, locker, [true])
})

const LANDED = { outcome: 'landed', slot: 1, commitment: 'confirmed' } as const
const COSTS = { slot: 1, blockTime: null, feeLamports: 1, rentLamports: 0 }
const refused = new NotPublished('transaction_refused', 'no')
const expired = (tx: string) => new NotPublished('transaction_expired', 'too late', { tx })

forEachDatabase('recording the outcome of a transaction', (database) => {
  const instance = forAllTests(() => testbed.open({ DATABASE_URL: database.url }))
  let locker: TestLocker
  /** The row as a process read it before the outcome was recorded. */
  let stale: PublicationTable
  beforeEach(async () => {
    locker = await filledLocker(instance)
    await attest(instance, locker)
    testbed.chain.settle()
    await watch(instance.gateway.context, STATEMENTS)
    stale = { ...(await publicationsOf(instance, locker))[0]!, state: 'sent' }
  })

  it.each<[string, () => Promise<unknown>]>([
    ['finds it pending', () => recordPending(instance.gateway.context, stale)],
    ['finds it lost', () => recordLost(instance.gateway.context, stale, expired(stale.tx))],
    ['finds it landed', () => recordLanded(instance.gateway.context, stale, LANDED, COSTS)],
    ['could not send it', () => recordNotSent(instance.gateway.context, stale, refused)],
    ['finds it finalized', () => recordFinalized(instance.gateway.context, stale, JSON.parse(stale.draft))],
  ])('T-19 ATT-04 a process that %s after the outcome was recorded changes nothing', async (_name, record) => {
    const all = async () => [
      await publicationsOf(instance, locker),
      await statementsOf(instance, locker),
      await statusOf(instance, locker),
    ]
    const before = await all()
    testbed.clock.advance(1)
    await record()
    expect(await all()).toEqual(before)
  })

  it('T-19 ATT-04 a process that could not send it changes nothing while a transaction is pending', async () => {
    const { db } = instance.gateway.context.database
    await writable(db).updateTable('publications').set({ state: 'sent' }).where('tx', '=', stale.tx).execute()
    const where = writable(db).updateTable('attestations').where('receipt_id', '=', locker.receiptId)
    await where.set({ status: 'pushing' }).execute()
    await writable(db)
      .updateTable('statements')
      .set({ anchor: null })
      .where('receipt_id', '=', locker.receiptId)
      .execute()
    await recordNotSent(instance.gateway.context, stale, refused)
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'pushing', anchor_error: null })
  })
})
