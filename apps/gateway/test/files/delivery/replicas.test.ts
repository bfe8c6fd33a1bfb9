import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import type { SlowStore } from '@svc/storage/slow-store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ed25519Identity, type TestLocker } from '../../auth/lockers.ts'
import { entryOf, manifestOf } from '../confirm/confirm.ts'
import { type DeliveryHouse, hex, openDeliveryHouse, openStages, type Stages } from './delivery-house.ts'

describe('two gateways with one database and one folder', () => {
  let database: FreshDatabase
  let stages: Stages
  let one: DeliveryHouse
  let other: DeliveryHouse
  let locker: TestLocker
  /** Runs in the first gateway, after it has read the notes. */
  let beforeDelivery = async () => {}
  const wrap = (slow: SlowStore): SlowStore => ({
    ...slow,
    async deliver(object) {
      await beforeDelivery()
      return slow.deliver(object)
    },
  })
  beforeAll(async () => {
    database = await createFreshDatabase('postgres')
    stages = await openStages()
    one = await openDeliveryHouse(stages, { DATABASE_URL: database.url }, { wrap })
    other = await openDeliveryHouse(stages, { DATABASE_URL: database.url }, { now: one.clock.now })
    locker = await one.locker(ed25519Identity())
  })
  afterAll(async () => {
    await one.close()
    await other.close()
    await stages.remove()
    await database.drop()
  })

  it('T-19 two gateways share the deliveries and pay for each object once', { tags: ['nightly'] }, async () => {
    const names = Array.from({ length: 12 }, (_, i) => `file ${i}`)
    for (const name of names) await locker.put(name, name)
    await Promise.all([one, other].map(({ gateway }) => gateway.context.queue.drain()))
    await one.later(60)
    expect((await manifestOf(locker)).files.filter(({ provider_ref }) => provider_ref === null)).toEqual([])
    expect(names.map((name) => stages.server.paid(hex(name)))).toEqual(names.map(() => 1))
    expect(names.map((name) => stages.server.received(hex(name)))).toEqual(names.map(() => 1))
    expect(await stages.staged()).toEqual([])
  })

  it('T-19 an object is paid for once also where a gateway takes over from a live one', {
    tags: ['nightly'],
  }, async () => {
    const held = stages.server.holdUp(hex('contended'), 'ordering')
    await locker.put('a', 'contended')
    const first = one.gateway.context.queue.drain()
    await held.reached
    one.clock.advance(3600)
    // An expired lease counts as a failed run, which is followed by a pause.
    await other.gateway.context.queue.drain()
    one.clock.advance(3600)
    await other.gateway.context.queue.drain()
    const { provider_ref } = (await entryOf(locker, 'a'))!
    expect(provider_ref).toEqual(expect.any(String))
    held.letGo()
    await first
    expect((await entryOf(locker, 'a'))?.provider_ref).toBe(provider_ref)
    expect(stages.server.paid(hex('contended'))).toBe(1)
    expect(await one.deliveries()).toEqual([])
  })
  it('T-19 an object is paid for once also where two gateways find no notes', { tags: ['nightly'] }, async () => {
    const held = stages.server.holdUp(hex('raced'), 'ordering')
    const began = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    beforeDelivery = () => {
      began.resolve()
      return goOn.promise
    }
    await locker.put('b', 'raced')
    const first = one.gateway.context.queue.drain()
    await began.promise
    one.clock.advance(3600)
    await other.gateway.context.queue.drain()
    one.clock.advance(3600)
    const second = other.gateway.context.queue.drain()
    await held.reached
    goOn.resolve()
    await first
    held.letGo()
    await second
    expect((await entryOf(locker, 'b'))?.provider_ref).toEqual(expect.any(String))
    expect(stages.server.paid(hex('raced'))).toBe(1)
  })
})
