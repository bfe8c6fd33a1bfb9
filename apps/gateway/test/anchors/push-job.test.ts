import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { PUSH_ATTEMPTS } from '../../src/anchors/push.ts'
import { attest, queueToAttest, statusOf } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  expectAnchors,
  filledLocker,
  publicationsOf,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'
import { DOWN, forgetfully } from './node-faults.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const NONE = { waiting: 0, delayed: 0, running: 0, dead: 0 }
/** Longer than every pause. */
const LATER = 2 * 3600

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())
afterEach(() => testbed.node.behave(honestly))

forEachDatabase('the job that publishes', (database) => {
  let house: LockerHouse
  /** Does not wait for an outcome. */
  let impatient: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await testbed.open({ DATABASE_URL: database.url })
    impatient = await testbed.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
  })
  const drain = (of = house) => of.gateway.context.queue.drain()
  const counts = async () => (await house.gateway.context.queue.counts()).push

  it('ANCH-11 ATT-04 the push job is repeated with growing pauses until the chain is back', async () => {
    testbed.node.behave(DOWN)
    await queueToAttest(house, locker)
    await drain()
    expect(await counts()).toEqual({ ...NONE, delayed: 1 })
    expect(await statusOf(house, locker)).toMatchObject({ status: 'computed', sequence: 1 })
    // The first pause is at least five seconds, the second ten.
    for (const pause of [5, 10]) {
      testbed.clock.advance(pause - 1)
      const asked = testbed.node.calls.length
      await drain()
      expect(testbed.node.calls.slice(asked)).toEqual([])
      testbed.clock.advance(pause + 1)
      await drain()
      expect(await counts()).toEqual({ ...NONE, delayed: 1 })
    }
    testbed.node.behave(honestly)
    testbed.clock.advance(LATER)
    expect(await transactionsOf(testbed.chain, () => drain())).toBe(1)
    await expectAnchors(house, testbed.chain, locker, [true])
    expect(await counts()).toEqual(NONE)
  })

  it('T-19 the push job finds what was sent, and sends again only after that has expired', {
    tags: ['nightly'],
  }, async () => {
    testbed.node.behave(forgetfully)
    await queueToAttest(house, locker)
    await drain(impatient)
    testbed.clock.advance(20)
    await drain(impatient)
    expect(await publicationsOf(house, locker)).toHaveLength(1)
    testbed.node.behave(honestly)
    testbed.clock.advance(LATER)
    expect(await transactionsOf(testbed.chain, () => drain())).toBe(1)
    await expectAnchors(house, testbed.chain, locker, [true])
    expect(await counts()).toEqual(NONE)
  })

  it('ANCH-11 the push job does nothing when the statement was published in the meantime', async () => {
    const sent = await transactionsOf(testbed.chain, async () => {
      await attest(house, locker)
      expect(await counts()).toEqual({ ...NONE, waiting: 1 })
      await drain()
    })
    expect([sent, await counts()]).toEqual([1, NONE])
  })

  it('ANCH-11 the push job becomes a dead letter after its attempts, and can be retried', {
    tags: ['nightly'],
  }, async () => {
    const { queue } = house.gateway.context
    testbed.node.behave(DOWN)
    await queueToAttest(house, locker)
    for (let i = 0; i < PUSH_ATTEMPTS; i++) {
      expect(await counts()).toMatchObject({ dead: 0 })
      await drain()
      testbed.clock.advance(LATER)
    }
    expect(await counts()).toEqual({ ...NONE, dead: 1 })
    const [letter] = await queue.deadLetters()
    expect(letter).toMatchObject({
      kind: 'push',
      payload: { receipt_id: locker.receiptId },
      attempts: PUSH_ATTEMPTS,
      error: expect.stringContaining('rpc_unavailable'),
    })
    testbed.node.behave(honestly)
    await queue.retryDead(letter!.id)
    await drain()
    await expectAnchors(house, testbed.chain, locker, [true])
    expect(await counts()).toEqual(NONE)
  })

  it('ANCH-11 the push job gives up at once on an error that is not retryable', async () => {
    const wrong = await testbed.open({ DATABASE_URL: database.url, MEMO_PROGRAM: TOKEN_PROGRAM })
    const { queue } = wrong.gateway.context
    await queueToAttest(wrong, locker)
    const sent = await transactionsOf(testbed.chain, () => queue.drain())
    expect([sent, (await queue.counts()).push]).toEqual([0, { ...NONE, dead: 1 }])
    const [letter] = await queue.deadLetters()
    expect(letter).toMatchObject({ kind: 'push', attempts: 1, error: expect.stringContaining('transaction_refused') })
    // The operator corrects the setting and retries the job.
    await queue.retryDead(letter!.id)
    await drain()
    await expectAnchors(house, testbed.chain, locker, [true])
  })
})
