import { randomBytes } from 'node:crypto'
import type { AttestHealth } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly, withResult } from '@svc/devnet/faulty-node'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { toBase58 } from '@svc/protocol/bytes'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { watchPublications } from '../../src/anchors/watch-publications.ts'
import { attest, statusOf } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  expectAnchors,
  filledLocker,
  publicationsOf,
  push,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'
import { forgetfully } from './node-faults.ts'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())
afterEach(() => {
  testbed.node.behave(honestly)
  testbed.chain.resume()
})

/** Expires every transaction that is in no block, finally. */
function expire(): void {
  testbed.chain.expireBlockhashes()
  testbed.clock.advance(2)
}

const allAre =
  (status: object) =>
  ({ value, ...rest }: { value: unknown[] }) => ({ ...rest, value: value.map(() => status) })

forEachDatabase('watching publications', (database) => {
  let house: LockerHouse
  /** Does not wait for an outcome. */
  let noWait: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await testbed.open({ DATABASE_URL: database.url })
    noWait = await testbed.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
  })
  beforeEach(async () => {
    // Remove what earlier tests left to watch.
    await drain()
    await house.gateway.context.database.db.deleteFrom('publications').execute()
    locker = await filledLocker(house)
  })
  const watch = (of = house) => watchPublications(of.gateway.rooms.anchors)
  const drain = () => house.gateway.context.queue.drain()
  const anchorError = async () => JSON.parse((await statusOf(house, locker))?.anchor_error ?? 'null')

  it('ANCH-07 STATE-12 a confirmed anchor becomes final, and nothing else about it changes', async () => {
    const { anchor } = (await attest(house, locker)).push_result
    expect(anchor).toMatchObject({ commitment: 'confirmed', finalized: false, fee_lamports: 5000 })
    await watch()
    expect(await expectAnchors(house, testbed.chain, locker, [true])).toEqual([anchor])
    testbed.chain.settle()
    const other = await testbed.open({ DATABASE_URL: database.url })
    await watch(other)
    const final = { ...anchor, commitment: 'finalized', finalized: true }
    expect(await expectAnchors(house, testbed.chain, locker, [true])).toEqual([final])
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'finalized', fee_lamports: 5000 }])
  })

  it('ANCH-07 the anchor of an older statement becomes final and leaves the newer statement as it is', async () => {
    await attest(house, locker)
    await locker.put('b', 'b')
    await house.send('POST', '/v1/internal/attest', { receipt_id: locker.receiptId, push: false })
    testbed.chain.settle()
    await watch()
    const [anchor] = await expectAnchors(house, testbed.chain, locker, [true, false])
    expect(anchor).toMatchObject({ finalized: true })
    expect(await statusOf(house, locker)).toMatchObject({ status: 'computed', sequence: 2 })
  })

  it('ATT-03 ATT-04 an anchor that the chain has lost is withdrawn, and its statement published again', async () => {
    const { anchor } = (await attest(house, locker)).push_result
    testbed.chain.hold()
    await drain()
    const { wire } = testbed.chain.transaction(anchor!.tx)!
    testbed.chain.fork({ drop: [anchor!.tx] })
    await watch()
    // Somebody may send it again until it has expired.
    expect(await statusOf(house, locker)).toMatchObject({ status: 'complete' })
    expire()
    await watch()
    await expectAnchors(house, testbed.chain, locker, [false])
    expect(await statusOf(house, locker)).toMatchObject({ status: 'computed' })
    expect(await anchorError()).toMatchObject({ retryable: true, ambiguous: false, tx_signature: anchor?.tx })
    testbed.chain.resume()
    await call(testbed.chainUrl, 'sendTransaction', [wire, { encoding: 'base64', skipPreflight: true }])
    expect(await transactionsOf(testbed.chain, drain)).toBe(1)
    const [second] = await expectAnchors(house, testbed.chain, locker, [true])
    expect(second?.tx).not.toBe(anchor?.tx)
    expect((await publicationsOf(house, locker)).map(({ state }) => state).toSorted()).toEqual(['expired', 'landed'])
  })

  it('ATT-03 an anchor whose transaction has failed after all is withdrawn, and its statement published again', async () => {
    const { anchor } = (await attest(house, locker)).push_result
    await drain()
    const failed = { slot: 1, confirmations: null, err: 'AccountInUse', confirmationStatus: 'finalized' }
    testbed.node.behave(withResult('getSignatureStatuses', allAre(failed)))
    await watch()
    await expectAnchors(house, testbed.chain, locker, [false])
    expect(await anchorError()).toMatchObject({ tx_signature: anchor?.tx, ambiguous: false })
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'failed' }])
  })

  it('T-19 a transaction that was noted and never sent is sent once', async () => {
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    testbed.node.behave(honestly)
    const { tx } = (await publicationsOf(house, locker))[0]!
    await watch()
    expect(testbed.chain.transaction(tx)).toBeUndefined()
    // While a push may wait for it, watching leaves it alone. Then one watch sends it, and the next finds it.
    testbed.clock.advance(35)
    const sent = await transactionsOf(testbed.chain, async () => {
      await watch()
      expect(await anchorError()).toMatchObject({ ambiguous: true, tx_signature: tx })
      testbed.chain.settle()
      await watch()
    })
    expect(sent).toBe(1)
    expect(await expectAnchors(house, testbed.chain, locker, [true])).toMatchObject([{ tx }])
    expect(await drain()).toMatchObject({ failed: 0, dead: 0 })
  })

  it('T-19 a noted transaction that has expired is given up, and the next push sends another', async () => {
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    expire()
    testbed.clock.advance(35)
    await watch()
    const { tx } = (await publicationsOf(house, locker))[0]!
    expect(await anchorError()).toMatchObject({ retryable: true, ambiguous: false, tx_signature: tx })
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => push(house, locker))).toBe(1)
    await expectAnchors(house, testbed.chain, locker, [true])
  })

  it('T-19 watching changes nothing while no node answers', async () => {
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    testbed.clock.advance(100)
    testbed.node.behave(() => ({ status: 503, body: 'out of order' }))
    await watch()
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'sent' }])
    expect(await anchorError()).toMatchObject({ ambiguous: true })
    testbed.node.behave(honestly)
    expire()
    await watch()
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'expired' }])
  })

  it('INT-03 failed attempts do not reset how long a statement has been waiting', async () => {
    const ageOf = async () =>
      (await house.send<AttestHealth>('GET', '/v1/internal/attest-health')).body.oldest_nonfinal_age_sec
    await house.gateway.context.database.db.deleteFrom('attestations').execute()
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    testbed.clock.advance(100)
    await watch()
    expect(await ageOf()).toBe(100)
    expire()
    await watch()
    expect(await ageOf()).toBe(102)
    testbed.node.behave(honestly)
    await push(house, locker)
    expect(await ageOf()).toBeNull()
  })
})

describe('where nothing is published', () => {
  it('ANCH-07 watching asks the chain nothing when nothing was published', async () => {
    const house = await testbed.open()
    const asked = testbed.node.calls.length
    await watchPublications(house.gateway.rooms.anchors)
    expect(testbed.node.calls.slice(asked)).toEqual([])
  })

  it('AMB-64 a gateway that does not publish has no watch schedule', async () => {
    const house = await testbed.open({ ANCHOR_KIND: 'off' })
    await watchPublications(house.gateway.rooms.anchors)
    expect(Object.keys(await house.gateway.context.queue.counts())).not.toContain('watch-publications')
  })
})

describe('more publications than nodes answer for at a time', () => {
  it('T-19 ANCH-07 more publications than nodes answer for at a time are asked for page by page', {
    tags: ['nightly'],
  }, async () => {
    const house = await testbed.open()
    const locker = await filledLocker(house)
    await attest(house, locker)
    const { db } = house.gateway.context.database
    const [landed] = await publicationsOf(house, locker)
    const rows = Array.from({ length: 260 }, (_, i) => ({
      ...landed!,
      tx: toBase58(randomBytes(64)),
      sequence: 1000 + i,
      sent_at: 0,
    }))
    await db.insertInto('publications').values(rows).execute()
    expire()
    const open = async () =>
      (await publicationsOf(house, locker)).filter(({ state, sequence }) => state === 'landed' && sequence >= 1000)
    await watchPublications(house.gateway.rooms.anchors)
    expect(await open()).toHaveLength(4)
    await watchPublications(house.gateway.rooms.anchors)
    expect(await open()).toEqual([])
    await expectAnchors(house, testbed.chain, locker, [true])
  })
})
