import { forEachDatabase } from '@svc/devnet/databases'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { writable } from '@svc/devnet/writable'
import { expect, it } from 'vitest'
import { unixNow } from '../../../src/context.ts'
import { deliverObject } from '../../../src/files/delivery/deliver-object.ts'
import { sweepDeliveries } from '../../../src/files/delivery/schedule.ts'
import { renewLocker } from '../../../src/purchases/renewal.ts'
import { publicBytes } from '../../adapters/http/sessions/sessions.ts'
import { entryOf, manifestOf } from '../confirm/confirm.ts'
import { deliveryGateway, hex } from './delivery-gateway.ts'

forEachDatabase('the terms of a locker at a provider that never removes bytes', (database) => {
  const TERMS = JSON.stringify({ arweave: { storage_limit_bytes: 2500 } })
  const { instance, locker } = deliveryGateway(() => ({ DATABASE_URL: database.url, TERMS }))

  const refOf = async (filename: string) => (await entryOf(locker, filename))?.provider_ref ?? null
  const paid = (...contents: string[]) => contents.map((bytes) => instance.server.paid(hex(bytes)))
  async function remove(filename: string) {
    expect((await locker.call(['locker:write'], 'DELETE', `/files/${filename}`)).status).toBe(200)
  }

  it('T-34 LOCK-14 bytes beyond the terms are stored and read, but not paid for, even after files are overwritten or deleted', async () => {
    const contents = ['10 bytes 1', '10 bytes 2', '10 bytes 3'].map((text) => `${text}${database.dialect[0]}`)
    for (const bytes of contents) {
      await locker.put('a', bytes)
      await instance.later(0)
      if (bytes === contents[0]) await remove('a')
    }
    expect(paid(...contents)).toEqual([1, 1, 0])
    expect(await refOf('a')).toBeNull()
    expect((await publicBytes(instance, locker, 'a')).toString()).toBe(contents[2])
    expect(await instance.deliveriesOf(locker)).toMatchObject({
      files: 0,
      bytes: 0,
      held_back: { files: 1, bytes: 11 },
    })
    const metrics = await (await fetch(`${instance.gateway.url}/metrics`)).text()
    expect(metrics).toContain('svc_settling_held_back{provider="arweave"} 1')
    expect(metrics).not.toContain('svc_settling_objects{provider="arweave"}')

    // Some providers compute for minutes before they record anything.
    const { context } = instance.gateway
    const [held] = (await instance.deliveries()).filter(({ locker_id }) => locker_id === locker.lockerId)
    const slow = () => expect.fail('the provider is not asked')
    const providers = { ...context.providers, slow }
    await deliverObject({ ...context, providers }, held!.object_id, new AbortController().signal)

    await instance.later(3 * 3600)
    expect(await sweepDeliveries(instance.gateway.context)).toBe(0)
    await locker.put('b', contents[1]!)
    await instance.later(0)
    expect(await refOf('b')).not.toBeNull()
    expect(paid(...contents)).toEqual([1, 1, 0])
    await remove('a')
    expect(await instance.deliveriesOf(locker)).toBeNull()
  })

  it('T-34 the same bytes are paid for once, even if overwritten, deleted and uploaded again', async () => {
    const bytes = `often ${database.dialect}`
    await locker.put('a', bytes)
    await instance.later(0)
    const ref = await refOf('a')
    await locker.put('a', bytes)
    await instance.later(0)
    await remove('a')
    await locker.put('b', bytes)
    await instance.later(0)
    expect([await refOf('b'), ...paid(bytes)]).toEqual([ref, 1])
    expect(await instance.staged()).toEqual([])
    expect((await publicBytes(instance, locker, 'b')).toString()).toBe(bytes)
  })

  it('T-34 two files with the same bytes that are delivered concurrently are paid for once', async () => {
    const bytes = `twice ${database.dialect}`
    instance.server.isSealing = false
    for (const name of ['a', 'b', 'c']) await locker.put(name, bytes)
    await instance.later(0)
    instance.server.isSealing = true
    await instance.later(3600)
    const refs = (await manifestOf(locker)).files.map(({ provider_ref }) => provider_ref)
    expect(new Set(refs).size).toBe(1)
    expect([refs[0], paid(bytes)]).toEqual([expect.any(String), [1]])
    expect(await instance.deliveries()).toEqual([])
    expect(await instance.staged()).toEqual([])
  })

  it('T-34 ADD-17 a renewal delivers the files that were held back, as far as it pays for them', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await locker.put(name, `${name} ${database.dialect}`)
    await instance.later(0)
    const delivered = async () => (await manifestOf(locker)).files.filter((file) => file.provider_ref !== null).length
    expect([await delivered(), (await instance.deliveriesOf(locker))?.held_back?.files]).toEqual([2, 3])

    await instance.later(3600)
    const { context } = instance.gateway
    const receipt = await seedReceipt(context, { owner: locker.owner.identity, provider: 'arweave' })
    await writable(context.database.db)
      .transaction()
      .execute((tx) => renewLocker(tx, { ...receipt, extends: locker.receiptId }, unixNow(context)))
    await instance.later(600)
    expect(await sweepDeliveries(context)).toBe(0)
    expect([await delivered(), (await instance.deliveriesOf(locker))?.held_back?.files]).toEqual([4, 1])
    await instance.later(3 * 3600)
    expect(await sweepDeliveries(context)).toBe(0)
  })
})
