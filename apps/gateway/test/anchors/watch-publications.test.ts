import { randomBytes } from 'node:crypto'
import type { AttestHealth } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly, withResult } from '@svc/devnet/faulty-node'
import { toBase58 } from '@svc/protocol/bytes'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { watchPublications } from '../../src/anchors/watch-publications.ts'
import { attest, statusOf } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  expectAnchors,
  filledLocker,
  type Harbour,
  openHarbour,
  publicationsOf,
  push,
  transactionsOf,
} from './anchor-gateways.ts'
import { blindly, forgetfully } from './node-faults.ts'

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour({ confirmAfterMs: 0, finalizeAfterMs: 2000 })
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

/** What was sent before, and is in no block, can no longer come, and that is final. */
function expire(): void {
  harbour.chain.expireBlockhashes()
  harbour.clock.advance(2)
}

const allAre =
  (status: object) =>
  ({ value, ...rest }: { value: unknown[] }) => ({ ...rest, value: value.map(() => status) })

forEachDatabase('watching publications', (database) => {
  let house: LockerHouse
  /** It gives up at once. */
  let hasty: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await harbour.open({ DATABASE_URL: database.url })
    hasty = await harbour.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
  })
  beforeEach(async () => {
    // Nothing of the tests before is looked after.
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
    expect(await expectAnchors(house, harbour.chain, locker, [true])).toEqual([anchor])
    harbour.clock.advance(2)
    const heir = await harbour.open({ DATABASE_URL: database.url })
    await watch(heir)
    const final = { ...anchor, commitment: 'finalized', finalized: true }
    expect(await expectAnchors(house, harbour.chain, locker, [true])).toEqual([final])
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'finalized', fee_lamports: 5000 }])
  })

  it('ANCH-07 the anchor of an older statement becomes final and leaves the newer statement as it is', async () => {
    await attest(house, locker)
    await locker.put('b', 'b')
    await house.send('POST', '/v1/internal/attest', { receipt_id: locker.receiptId, push: false })
    harbour.clock.advance(2)
    await watch()
    const [anchor] = await expectAnchors(house, harbour.chain, locker, [true, false])
    expect(anchor).toMatchObject({ finalized: true })
    expect(await statusOf(house, locker)).toMatchObject({ status: 'computed', sequence: 2 })
  })

  it('ATT-03 ATT-04 an anchor that the chain has lost is withdrawn, and its statement published again', async () => {
    const { anchor } = (await attest(house, locker)).push_result
    await drain()
    harbour.node.behave(blindly)
    await watch()
    // It may have been in a block that comes back.
    expect(await expectAnchors(house, harbour.chain, locker, [true])).toEqual([anchor])
    expire()
    await watch()
    await expectAnchors(house, harbour.chain, locker, [false])
    expect(await statusOf(house, locker)).toMatchObject({ status: 'computed' })
    expect(await anchorError()).toMatchObject({ retryable: true, ambiguous: false, tx_signature: anchor?.tx })
    harbour.node.behave(honestly)
    expect(await transactionsOf(harbour.chain, drain)).toBe(1)
    const [second] = await expectAnchors(house, harbour.chain, locker, [true])
    expect(second?.tx).not.toBe(anchor?.tx)
    expect((await publicationsOf(house, locker)).map(({ state }) => state).toSorted()).toEqual(['expired', 'landed'])
  })

  it('ATT-03 an anchor whose transaction has failed after all is withdrawn, and its statement published again', async () => {
    const { anchor } = (await attest(house, locker)).push_result
    await drain()
    const failed = { slot: 1, confirmations: null, err: 'AccountInUse', confirmationStatus: 'finalized' }
    harbour.node.behave(withResult('getSignatureStatuses', allAre(failed)))
    await watch()
    await expectAnchors(house, harbour.chain, locker, [false])
    expect(await anchorError()).toMatchObject({ tx_signature: anchor?.tx, ambiguous: false })
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'failed' }])
  })

  it('T-19 a transaction that was noted and never sent is sent once', async () => {
    harbour.node.behave(forgetfully)
    await attest(hasty, locker)
    harbour.node.behave(honestly)
    const { tx } = (await publicationsOf(house, locker))[0]!
    await watch()
    expect(harbour.chain.transaction(tx)).toBeUndefined()
    // As long as somebody may be waiting for it, it is left alone; then it is sent, and found the next time.
    harbour.clock.advance(35)
    const sent = await transactionsOf(harbour.chain, async () => {
      await watch()
      expect(await anchorError()).toMatchObject({ ambiguous: true, tx_signature: tx })
      await watch()
    })
    expect(sent).toBe(1)
    expect(await expectAnchors(house, harbour.chain, locker, [true])).toMatchObject([{ tx }])
    expect(await drain()).toMatchObject({ failed: 0, dead: 0 })
  })

  it('T-19 a noted transaction that has expired is given up, and the next push sends another', async () => {
    harbour.node.behave(forgetfully)
    await attest(hasty, locker)
    expire()
    harbour.clock.advance(35)
    await watch()
    const { tx } = (await publicationsOf(house, locker))[0]!
    expect(await anchorError()).toMatchObject({ retryable: true, ambiguous: false, tx_signature: tx })
    harbour.node.behave(honestly)
    expect(await transactionsOf(harbour.chain, () => push(house, locker))).toBe(1)
    await expectAnchors(house, harbour.chain, locker, [true])
  })

  it('T-19 changes nothing while no node answers', async () => {
    harbour.node.behave(forgetfully)
    await attest(hasty, locker)
    harbour.clock.advance(100)
    harbour.node.behave(() => ({ status: 503, body: 'out of order' }))
    await watch()
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'sent' }])
    expect(await anchorError()).toMatchObject({ ambiguous: true })
    harbour.node.behave(honestly)
    expire()
    await watch()
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'expired' }])
  })

  it('INT-03 failed attempts do not change since when a statement is waiting', async () => {
    const ageOf = async () =>
      (await house.send<AttestHealth>('GET', '/v1/internal/attest-health')).body.oldest_nonfinal_age_sec
    await house.gateway.context.database.db.deleteFrom('attestations').execute()
    harbour.node.behave(forgetfully)
    await attest(hasty, locker)
    harbour.clock.advance(100)
    await watch()
    expect(await ageOf()).toBe(100)
    expire()
    await watch()
    expect(await ageOf()).toBe(102)
    harbour.node.behave(honestly)
    await push(house, locker)
    expect(await ageOf()).toBeNull()
  })
})

describe('where nothing is published', () => {
  it('ANCH-07 the chain is asked nothing', async () => {
    const house = await harbour.open()
    const asked = harbour.node.calls.length
    await watchPublications(house.gateway.rooms.anchors)
    expect(harbour.node.calls.slice(asked)).toEqual([])
  })

  it('AMB-64 there is no schedule either', async () => {
    const house = await harbour.open({ ANCHOR_KIND: 'off' })
    await watchPublications(house.gateway.rooms.anchors)
    expect(Object.keys(await house.gateway.context.queue.counts())).not.toContain('watch-publications')
  })
})

describe('more publications than nodes answer for at a time', () => {
  it('T-19 ANCH-07 are asked for one page after the other', async () => {
    const house = await harbour.open()
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
    await expectAnchors(house, harbour.chain, locker, [true])
  })
})
