import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { NotPublished } from '../../src/anchors/errors.ts'
import {
  recordFinalized,
  recordLanded,
  recordLost,
  recordNotSent,
  recordPending,
} from '../../src/anchors/record-outcome.ts'
import type { PublicationTable } from '../../src/db/schema.ts'
import { attest, statementsOf, statusOf } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import { type AnchorTestbed, filledLocker, publicationsOf, startAnchorTestbed } from './anchor-testbed.ts'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())

const LANDED = { outcome: 'landed', slot: 1, commitment: 'confirmed' } as const
const COSTS = { slot: 1, blockTime: null, feeLamports: 1, rentLamports: 0 }
const refused = new NotPublished('transaction_refused', 'no')
const expired = (tx: string) => new NotPublished('transaction_expired', 'too late', { tx })

forEachDatabase('the outcome of a transaction is recorded once', (database) => {
  let house: LockerHouse
  let locker: TestLocker
  /** As a process read it before the outcome was recorded. */
  let stale: PublicationTable
  beforeAll(async () => {
    house = await testbed.open({ DATABASE_URL: database.url })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
    await attest(house, locker)
    stale = { ...(await publicationsOf(house, locker))[0]!, state: 'sent' }
  })

  it.each<[string, () => Promise<unknown>]>([
    ['is not sure', () => recordPending(house.gateway.context, stale)],
    ['takes it for lost', () => recordLost(house.gateway.context, stale, expired(stale.tx))],
    ['finds it, too', () => recordLanded(house.gateway.rooms.anchors, stale, LANDED, COSTS)],
    ['could not send it', () => recordNotSent(house.gateway.context, stale, refused)],
    ['has seen it finalized', () => recordFinalized(house.gateway.context, stale, JSON.parse(stale.draft))],
  ])('T-19 ATT-04 a process that %s after the outcome was recorded changes nothing', async (_name, record) => {
    const all = async () => [
      await publicationsOf(house, locker),
      await statementsOf(house, locker),
      await statusOf(house, locker),
    ]
    const before = await all()
    testbed.clock.advance(1)
    await record()
    expect(await all()).toEqual(before)
  })

  it('T-19 ATT-04 a process that could not send changes nothing while a transaction is pending', async () => {
    const { db } = house.gateway.context.database
    await db.updateTable('publications').set({ state: 'sent' }).where('tx', '=', stale.tx).execute()
    const where = db.updateTable('attestations').where('receipt_id', '=', locker.receiptId)
    await where.set({ status: 'pushing' }).execute()
    await db.updateTable('statements').set({ anchor: null }).where('receipt_id', '=', locker.receiptId).execute()
    await recordNotSent(house.gateway.context, stale, refused)
    expect(await statusOf(house, locker)).toMatchObject({ status: 'pushing', anchor_error: null })
  })
})
