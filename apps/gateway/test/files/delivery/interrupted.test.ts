// @module-tag nightly
import { createFreshDatabase, forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { publicBytes } from '../../adapters/http/sessions/sessions.ts'
import { entryOf, manifestOf } from '../confirm/confirm.ts'
import { deliveryGateway, hex, openDeliveryGateway, openStages } from './delivery-gateway.ts'

const PROGRAM = new URL('./delivery-process.ts', import.meta.url)
const AT_THE_SERVER = ['ordering', 'ordered', 'sending', 'sent', 'looking'] as const
const AT_THE_GATEWAY = ['before', 'after']

forEachDatabase('a process that is killed during deliveries', (database) => {
  it('T-19 a process killed at each step of a delivery loses nothing, and each object is paid for once', async () => {
    const stages = await openStages()
    onTestFinished(stages.close)
    const successor = await openDeliveryGateway(stages, { DATABASE_URL: database.url })
    onTestFinished(successor.close)
    await successor.gateway.context.queue.drain()
    const locker = await successor.locker(ed25519Identity())
    const names = [...AT_THE_SERVER, ...AT_THE_GATEWAY]
    for (const name of names) await locker.put(name, name)
    const held = AT_THE_SERVER.map((step) => stages.server.holdUp(hex(step), step))

    const orders = {
      databaseUrl: database.url,
      folder: stages.folder,
      url: stages.server.url,
      now: successor.clock.now(),
    }
    const blocks = { blockBefore: hex('before'), blockAfter: hex('after') }
    const victim = startProcess(PROGRAM, { args: [JSON.stringify({ ...orders, ...blocks })] })
    for (const step of AT_THE_GATEWAY) await victim.waitForLine(new RegExp(step))
    await Promise.all(held.map(({ reached }) => reached))
    await victim.kill()
    for (const { disconnect } of held) disconnect()
    for (const name of names) expect((await publicBytes(successor, locker, name)).toString()).toBe(name)

    // The leases of the killed process expire, then the pause after a failed run.
    for (let hour = 0; hour < 3; hour++) await successor.later(3600)
    expect((await manifestOf(locker)).files.filter(({ provider_ref }) => provider_ref === null)).toEqual([])
    expect(await successor.deliveries()).toEqual([])
    expect(await stages.staged()).toEqual([])
    for (const name of names) {
      expect([name, stages.server.paid(hex(name)), stages.server.received(hex(name))]).toEqual([name, 1, 1])
      expect((await publicBytes(successor, locker, name)).toString()).toBe(name)
    }
    const { queue } = successor.gateway.context
    expect([await queue.deadLetters(), (await queue.counts())['settle-object']]).toEqual([
      [],
      { waiting: 0, delayed: 0, running: 0, dead: 0 },
    ])
  })
})

describe('two gateways', () => {
  const database = forAllTests(() => createFreshDatabase('postgres'))
  const { stages, instance: one, locker } = deliveryGateway(() => ({ DATABASE_URL: database.url }))
  const other = forAllTests(() => openDeliveryGateway(stages, { DATABASE_URL: database.url }, { now: one.clock.now }))

  it('T-19 pay once for an object when one takes over from the other, which still runs', async () => {
    const held = stages.server.holdUp(hex('contended'), 'ordering')
    await locker.put('a', 'contended')
    const first = one.gateway.context.queue.drain()
    await held.reached
    one.clock.advance(3600)
    // An expired lease counts as a failed run, and a pause follows.
    await other.gateway.context.queue.drain()
    one.clock.advance(3600)
    await other.gateway.context.queue.drain()
    const { provider_ref } = (await entryOf(locker, 'a'))!
    expect(provider_ref).toEqual(expect.any(String))
    held.release()
    await first
    expect((await entryOf(locker, 'a'))?.provider_ref).toBe(provider_ref)
    expect(stages.server.paid(hex('contended'))).toBe(1)
    expect(await one.deliveries()).toEqual([])
  })

  it('T-19 pay once for an object when neither finds a record of its delivery', async () => {
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
    held.release()
    await second
    expect((await entryOf(locker, 'b'))?.provider_ref).toEqual(expect.any(String))
    expect(stages.server.paid(hex('raced'))).toBe(1)
  })
})
