import type { FileDeleted } from '@svc/api/files'
import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { sweepObjects } from '../../../src/files/sweep-objects.ts'
import { publicBytes } from '../../adapters/http/sessions/sessions.ts'
import { confirm, entryOf } from '../confirm/confirm.ts'
import { deliveryGateway, hex } from './delivery-gateway.ts'

forEachDatabase('a file that is deleted or replaced during its delivery', (database) => {
  const { instance, locker } = deliveryGateway(() => ({ DATABASE_URL: database.url }))

  const drain = () => instance.gateway.context.queue.drain()
  const sweepLater = () => {
    instance.clock.advance(16 * 60)
    return sweepObjects(instance.gateway.context)
  }
  async function remove(filename: string): Promise<boolean> {
    const { body } = await locker.call<FileDeleted>(['locker:write'], 'DELETE', `/files/${filename}`)
    expect(body.deleted).toBe(true)
    return body.bytes_removed
  }
  const expectNothingLeft = async () => {
    expect([await instance.staged(), await instance.objects(), await instance.deliveries()]).toEqual([[], [], []])
  }

  it('FILE-16 deleting a file before its delivery begins removes its bytes and pays nothing', async () => {
    await locker.put('a', 'never sent')
    expect(await remove('a')).toBe(true)
    await expectNothingLeft()
    expect(await drain()).toEqual({ done: 1, failed: 0, dead: 0 })
    expect(instance.server.paid(hex('never sent'))).toBe(0)
  })

  it('FILE-16 a running delivery is cancelled before its first record', async () => {
    await locker.put('a', 'just in time')
    instance.hooks.beforeDelivery = async () => void expect(await remove('a')).toBe(true)
    expect(await drain()).toMatchObject({ failed: 1 })
    instance.hooks.beforeDelivery = async () => {
      throw new Error('there is nothing to deliver')
    }
    expect(await instance.later(60)).toMatchObject({ failed: 0 })
    expect(instance.server.paid(hex('just in time'))).toBe(0)
    await expectNothingLeft()
  })

  it('FILE-16 a delivery that has begun continues, and delete answers that the bytes stay', async () => {
    const held = instance.server.holdUp(hex('too late'), 'ordering')
    await locker.put('a', 'too late')
    const draining = drain()
    await held.reached
    expect(await remove('a')).toBe(false)
    expect(await instance.deliveriesOf(locker)).toBeNull()
    expect(await sweepLater()).toBe(0)
    expect(await instance.staged()).toHaveLength(1)
    held.release()
    await draining
    expect([instance.server.paid(hex('too late')), instance.server.received(hex('too late'))]).toEqual([1, 1])
    await sweepLater()
    await expectNothingLeft()
  })

  it('FILE-16 a delivered file that is deleted stays at its provider, even before the staged copy is removed', async () => {
    const held = instance.server.holdUp(hex('not dropped'), 'looking')
    await locker.put('a', 'not dropped')
    const draining = drain()
    await held.reached
    expect(await entryOf(locker, 'a')).toHaveProperty('provider_ref')
    expect(await remove('a')).toBe(false)
    held.release()
    await draining
    await expectNothingLeft()
  })

  it('AMB-24 replaced bytes are not delivered, and the new bytes are', async () => {
    await locker.put('a', 'old')
    await locker.put('a', 'new')
    expect((await instance.deliveries()).map(({ sha256 }) => sha256)).toEqual([hex('new')])
    await drain()
    expect([instance.server.paid(hex('old')), instance.server.paid(hex('new'))]).toEqual([0, 1])
    expect(await instance.staged()).toHaveLength(1)
    expect(await sweepLater()).toBe(1)
    expect(await instance.staged()).toEqual([])
    expect((await publicBytes(instance, locker, 'a')).toString()).toBe('new')
  })

  it('AMB-24 the reference of a delivery is not recorded for bytes uploaded meanwhile', async () => {
    const held = instance.server.holdUp(hex('first'), 'sent')
    await locker.put('b', 'first')
    const draining = drain()
    await held.reached
    await locker.put('b', 'second', { confirm: false })
    held.release()
    await draining
    expect(await entryOf(locker, 'b')).not.toHaveProperty('provider_ref')
    expect((await publicBytes(instance, locker, 'b')).toString()).toBe('second')
    await confirm(instance, locker, 'b')
    await drain()
    expect(await entryOf(locker, 'b')).toHaveProperty('provider_ref')
    expect((await publicBytes(instance, locker, 'b')).toString()).toBe('second')
    await sweepLater()
    expect(await instance.staged()).toEqual([])
  })
})
