import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { PUSH_ATTEMPTS } from '../../src/anchors/push.ts'
import { attest, queueToAttest, statusOf } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  expectAnchors,
  filledLocker,
  type Harbour,
  openHarbour,
  publicationsOf,
  transactionsOf,
} from './anchor-gateways.ts'
import { DOWN, forgetfully } from './node-faults.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const NONE = { waiting: 0, delayed: 0, running: 0, dead: 0 }
/** After every pause, however many runs have failed. */
const LATER = 2 * 3600

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour()
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

forEachDatabase('the job that publishes', (database) => {
  let house: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await harbour.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
  })
  const drain = () => house.gateway.context.queue.drain()
  const counts = async () => (await house.gateway.context.queue.counts()).push

  it('ANCH-11 ATT-04 is repeated, later each time, until the chain is back', async () => {
    harbour.node.behave(DOWN)
    await queueToAttest(house, locker)
    await drain()
    expect(await counts()).toEqual({ ...NONE, delayed: 1 })
    expect(await statusOf(house, locker)).toMatchObject({ status: 'computed', sequence: 1 })
    // Not before its time, which is five seconds at least, then ten.
    for (const pause of [5, 10]) {
      harbour.clock.advance(pause - 1)
      const asked = harbour.node.calls.length
      await drain()
      expect(harbour.node.calls.slice(asked)).toEqual([])
      harbour.clock.advance(pause + 1)
      await drain()
      expect(await counts()).toEqual({ ...NONE, delayed: 1 })
    }
    harbour.node.behave(honestly)
    harbour.clock.advance(LATER)
    expect(await transactionsOf(harbour.chain, drain)).toBe(1)
    await expectAnchors(house, harbour.chain, locker, [true])
    expect(await counts()).toEqual(NONE)
  })

  it('T-19 finds what was sent, and sends again only after it has expired', async () => {
    harbour.node.behave(forgetfully)
    await queueToAttest(house, locker)
    await drain()
    harbour.clock.advance(20)
    await drain()
    expect(await publicationsOf(house, locker)).toHaveLength(1)
    harbour.node.behave(honestly)
    harbour.clock.advance(LATER)
    expect(await transactionsOf(harbour.chain, drain)).toBe(1)
    await expectAnchors(house, harbour.chain, locker, [true])
    expect(await counts()).toEqual(NONE)
  })

  it('ANCH-11 does nothing when the statement was published in the meantime', async () => {
    const sent = await transactionsOf(harbour.chain, async () => {
      await attest(house, locker)
      expect(await counts()).toEqual({ ...NONE, waiting: 1 })
      await drain()
    })
    expect([sent, await counts()]).toEqual([1, NONE])
  })

  it('ANCH-11 gives up after its attempts, shows that it did, and can be started again', async () => {
    const { queue } = house.gateway.context
    harbour.node.behave(DOWN)
    await queueToAttest(house, locker)
    for (let i = 0; i < PUSH_ATTEMPTS; i++) {
      expect(await counts()).toMatchObject({ dead: 0 })
      await drain()
      harbour.clock.advance(LATER)
    }
    expect(await counts()).toEqual({ ...NONE, dead: 1 })
    const [letter] = await queue.deadLetters()
    expect(letter).toMatchObject({
      kind: 'push',
      payload: { receipt_id: locker.receiptId },
      attempts: PUSH_ATTEMPTS,
      error: expect.stringContaining('rpc_unavailable'),
    })
    harbour.node.behave(honestly)
    await queue.retryDead(letter!.id)
    await drain()
    await expectAnchors(house, harbour.chain, locker, [true])
    expect(await counts()).toEqual(NONE)
  })

  it('ANCH-11 gives up at once on an error that is not retryable', async () => {
    const wrong = await harbour.open({ DATABASE_URL: database.url, MEMO_PROGRAM: TOKEN_PROGRAM })
    const { queue } = wrong.gateway.context
    await queueToAttest(wrong, locker)
    const sent = await transactionsOf(harbour.chain, () => queue.drain())
    expect([sent, (await queue.counts()).push]).toEqual([0, { ...NONE, dead: 1 }])
    const [letter] = await queue.deadLetters()
    expect(letter).toMatchObject({ kind: 'push', attempts: 1, error: expect.stringContaining('transaction_refused') })
    // An operator who has put it right begins it again.
    await queue.retryDead(letter!.id)
    await drain()
    await expectAnchors(house, harbour.chain, locker, [true])
  })
})
