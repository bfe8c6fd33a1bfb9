// @module-tag nightly

import { createFreshDatabase } from '@svc/devnet/databases'
import type { SlowStore } from '@svc/storage/slow-store'
import { beforeEach, expect, it } from 'vitest'
import { ed25519Identity } from '../../auth/lockers.ts'
import { forAllTests, forEachTest } from '../../for-tests.ts'
import { entryOf } from '../confirm/confirm.ts'
import { hex, openDeliveryHouse, openStages } from './delivery-house.ts'

/** Runs in the first gateway, after it has read the notes. */
let beforeDelivery = async () => {}
const wrap = (slow: SlowStore): SlowStore => ({
  ...slow,
  async deliver(object) {
    await beforeDelivery()
    return slow.deliver(object)
  },
})
const database = forAllTests(() => createFreshDatabase('postgres'))
const stages = forAllTests(openStages)
const one = forAllTests(() => openDeliveryHouse(stages, { DATABASE_URL: database.url }, { wrap }))
const other = forAllTests(() => openDeliveryHouse(stages, { DATABASE_URL: database.url }, { now: one.clock.now }))
const locker = forEachTest(() => one.locker(ed25519Identity()))
beforeEach(async () => {
  beforeDelivery = async () => {}
  await one.reset()
})

it('T-19 an object is paid for once also where a gateway takes over from a live one', async () => {
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

it('T-19 an object is paid for once also where two gateways find no notes', async () => {
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
