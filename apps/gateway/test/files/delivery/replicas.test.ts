// @module-tag nightly

import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect, it } from 'vitest'
import { entryOf } from '../confirm/confirm.ts'
import { deliveryHouse, hex, openDeliveryHouse } from './delivery-house.ts'

const database = forAllTests(() => createFreshDatabase('postgres'))
const { stages, house: one, locker } = deliveryHouse(() => ({ DATABASE_URL: database.url }))
const other = forAllTests(() => openDeliveryHouse(stages, { DATABASE_URL: database.url }, { now: one.clock.now }))

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
  one.hooks.beforeDelivery = () => {
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
