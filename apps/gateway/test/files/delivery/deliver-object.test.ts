import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { sweepDeliveries } from '../../../src/files/delivery/schedule.ts'
import { openTestSession, publicBytes } from '../../adapters/http/sessions/sessions.ts'
import { createFile, put, rowOf } from '../../adapters/http/transfers.ts'
import { confirmBatch, type ErrorReply, entryOf, manifestOf } from '../confirm/confirm.ts'
import { deliveryGateway, hex, openDeliveryGateway, openStages } from './delivery-gateway.ts'

forEachDatabase('delivery', (database) => {
  const { stages, instance, locker } = deliveryGateway(() => ({ DATABASE_URL: database.url }))

  const objectOf = async (filename: string) => (await rowOf(instance, locker, filename)).object_id!
  const refOf = async (filename: string) => (await entryOf(locker, filename))?.provider_ref ?? null
  const bytesOf = async (filename: string) => (await publicBytes(instance, locker, filename)).toString()
  const enqueue = (kind: 'settle-object' | 'drop-staged', object_id: string, options = {}) =>
    writable(instance.gateway.context.database.db)
      .transaction()
      .execute((tx) => instance.gateway.context.queue.enqueue(tx, kind, { object_id }, options))

  it("FILE-19 a confirmed file is delivered, and shows its provider's reference from then on", async () => {
    await locker.put('a', 'first')
    const id = await objectOf('a')
    expect(await instance.staged()).toEqual([id])
    expect(await entryOf(locker, 'a')).not.toHaveProperty('provider_ref')
    expect((await manifestOf(locker)).files).toMatchObject([{ provider: 'arweave', provider_ref: null }])
    expect(await instance.deliveriesOf(locker)).toEqual({ files: 1, bytes: 5, oldest_since: expect.any(String) })

    expect(await instance.later(0)).toEqual({ done: 2, failed: 0, dead: 0 })
    const ref = await refOf('a')
    expect(ref).toEqual(expect.any(String))
    const manifest = await manifestOf(locker)
    expect(manifest.files).toMatchObject([{ provider: 'arweave', provider_ref: ref }])
    expect(await instance.deliveriesOf(locker)).toBeNull()
    expect(await instance.deliveries()).toEqual([])
    expect(await instance.staged()).toEqual([])
    expect(await bytesOf('a')).toBe('first')
    expect([instance.server.paid(hex('first')), instance.server.received(hex('first'))]).toEqual([1, 1])

    for (const kind of ['settle-object', 'drop-staged'] as const) await enqueue(kind, id)
    expect(await instance.later(0)).toEqual({ done: 2, failed: 0, dead: 0 })
    expect(await manifestOf(locker)).toEqual(manifest)
    expect(instance.server.paid(hex('first'))).toBe(1)
  })

  it('FILE-22 SESS-03 all confirmed files are delivered, however they were uploaded, and no others', async () => {
    for (const name of ['x', 'y', 'unconfirmed']) await locker.put(name, `batch ${name}`, { confirm: false })
    await confirmBatch(instance, locker, ['x', 'y', 'nowhere'])
    const session = await openTestSession(instance, locker, { files: [{ filename: 's' }, { filename: 'm' }] })
    await session.raw(0, 'one part')
    for (const i of [0, 1]) await session.raw(i, `part ${i}`, { file: 1 })
    await session.finalize()
    const elsewhere = await instance.locker(ed25519Identity(), { provider: 'gcs' })
    await elsewhere.put('g', 'quick')
    expect(await instance.deliveriesOf(elsewhere)).toBeNull()
    expect(await instance.deliveriesOf(locker)).toMatchObject({ files: 4, bytes: 7 + 7 + 8 + 12 })
    expect((await instance.deliveries()).map(({ sha256 }) => sha256).sort()).toEqual(
      ['batch x', 'batch y', 'one part', 'part 0part 1'].map(hex).sort(),
    )
    await instance.later(0)
    const refs = (await manifestOf(locker)).files.map(({ filename, provider_ref }) => [filename, provider_ref !== null])
    expect(Object.fromEntries(refs)).toEqual({ m: true, s: true, unconfirmed: false, x: true, y: true })
    expect(await bytesOf('m')).toBe('part 0part 1')
    expect((await manifestOf(elsewhere)).files).toMatchObject([{ provider_ref: null }])
    expect(instance.server.paid(hex('quick'))).toBe(0)
  })

  const STEPS = ['ordering', 'ordered', 'sending', 'sent'] as const
  it.each(STEPS)('T-19 is paid for once and completed once when the connection breaks at %s', async (step) => {
    const bytes = `broken off at ${step}`
    instance.server.disconnect(hex(bytes), step)
    await locker.put('a', bytes)
    expect(await instance.later(0)).toMatchObject({ done: 0, failed: 1 })
    expect(await refOf('a')).toBeNull()
    expect(await bytesOf('a')).toBe(bytes)
    await instance.later(60)
    expect(await refOf('a')).not.toBeNull()
    expect([instance.server.paid(hex(bytes)), instance.server.received(hex(bytes))]).toEqual([1, 1])
  })

  async function restrict(restriction: 'none' | 'frozen' | 'taken_down') {
    const path = `/v1/internal/operations/lockers/${locker.lockerId}/restriction`
    expect((await instance.send('PUT', path, { restriction, reason: 'order 17 of a court' })).status).toBe(200)
  }

  it('T-165 waits until the restriction of its locker ends', async () => {
    await locker.put('a', 'under seal')
    await restrict('frozen')
    expect(await instance.later(0)).toMatchObject({ failed: 0, dead: 0 })
    await restrict('taken_down')
    await instance.later(3 * 3600)
    expect(await sweepDeliveries(instance.gateway.context)).toBe(0)
    expect([instance.server.paid(hex('under seal')), (await instance.deliveriesOf(locker))?.files]).toEqual([0, 1])
    const metrics = await (await fetch(`${instance.gateway.url}/metrics`)).text()
    expect(metrics).not.toContain('svc_settling_oldest_age_seconds{provider="arweave"}')
    await restrict('none')
    expect(await sweepDeliveries(instance.gateway.context)).toBe(1)
    await instance.later(0)
    expect([await refOf('a'), instance.server.paid(hex('under seal'))]).toEqual([expect.any(String), 1])
  })

  it('T-165 sends nothing more once its locker is taken down', async () => {
    const contents = ['cut off before', 'under way']
    const received = () => contents.map((bytes) => instance.server.received(hex(bytes)))
    instance.server.disconnect(hex('cut off before'), 'ordered')
    await locker.put('a', 'cut off before')
    expect(await instance.later(0)).toMatchObject({ failed: 1 })
    const held = instance.server.holdUp(hex('under way'), 'ordered')
    await locker.put('b', 'under way')
    const draining = instance.later(0)
    await held.reached
    await restrict('taken_down')
    held.release()
    expect(await draining).toMatchObject({ failed: 0 })
    expect(await instance.later(3600)).toMatchObject({ failed: 0, dead: 0 })
    expect(received()).toEqual([0, 0])
    await restrict('none')
    await instance.later(3 * 3600)
    expect(received()).toEqual([1, 1])
    expect(contents.map((bytes) => instance.server.paid(hex(bytes)))).toEqual([1, 1])
  })

  it('waits for a provider that is down for days, and for a slow one', async () => {
    instance.server.isDown = true
    await locker.put('a', 'patience')
    for (let i = 0; i < 6; i++) expect(await instance.later(8 * 3600)).toMatchObject({ dead: 0 })
    expect((await instance.deliveriesOf(locker))?.files).toBe(1)
    instance.server.isDown = false
    instance.server.isSealing = false
    for (let i = 0; i < 2; i++) await instance.later(3600)
    expect([await refOf('a'), instance.server.received(hex('patience'))]).toEqual([null, 1])
    instance.server.isSealing = true
    await instance.later(3600)
    expect(await refOf('a')).not.toBeNull()
    expect([instance.server.paid(hex('patience')), instance.server.received(hex('patience'))]).toEqual([1, 1])
  })

  it('keeps the staged copy until the provider returns the same bytes', async () => {
    instance.server.isReadable = false
    await locker.put('a', 'not shown yet')
    const id = await objectOf('a')
    const staged = join(stages.folder, 'objects', id.slice(0, 2), id)
    expect(await instance.later(0)).toMatchObject({ done: 1, failed: 1 })
    expect(await refOf('a')).not.toBeNull()
    expect(await bytesOf('a')).toBe('not shown yet')
    instance.server.isReadable = true
    for (const other of ['not shown yet!', 'not shown YET']) {
      await writeFile(staged, other)
      expect(await instance.later(3600)).toMatchObject({ failed: 1 })
      expect(await instance.staged()).toContain(id)
    }
    await writeFile(staged, 'not shown yet')
    expect(await instance.later(3600)).toMatchObject({ failed: 0 })
    expect(await instance.staged()).not.toContain(id)
    expect(await bytesOf('a')).toBe('not shown yet')
  })

  it('is still reported after its last attempt, and resumed by the sweep', async () => {
    const { queue, database: opened } = instance.gateway.context
    instance.server.isDown = true
    await locker.put('a', 'given up')
    const jobs = sql.table(database.dialect === 'sqlite' ? 'jobs' : 'pgboss.job')
    await sql`delete from ${jobs}`.execute(writable(opened.db))
    await enqueue('settle-object', await objectOf('a'), { maxAttempts: 1 })
    expect(await instance.later(0)).toMatchObject({ dead: 1 })
    expect(await queue.deadLetters()).toMatchObject([{ kind: 'settle-object', attempts: 1 }])
    instance.server.isDown = false
    await instance.later(3600)
    expect(await refOf('a')).toBeNull()
    await instance.later(2 * 3600)
    expect(await refOf('a')).not.toBeNull()
  })
})

const MAX = 1000
const TOO_MUCH = Buffer.alloc(MAX + 1)
const stages = forAllTests(openStages)
const instance = forAllTests(() => openDeliveryGateway(stages, {}, { maxBytes: MAX }))
const locker = forAllTests(() => instance.locker(ed25519Identity()))

async function expectTooLarge({ status, body }: { status: number; body: unknown }): Promise<void> {
  const { error, message, details } = body as ErrorReply
  expect([status, error, details.max_bytes]).toEqual([413, 'UPLOAD_TOO_LARGE', MAX])
  expect(message).toContain(String(MAX))
  expect([await instance.staged(), await instance.deliveries()]).toEqual([[], []])
}

it('T-11 an upload larger than its provider accepts is refused, by its declared or its counted size', async () => {
  const { upload } = await createFile(instance, locker, 'a')
  const announced = await put(upload, TOO_MUCH)
  await expectTooLarge({ status: announced.status, body: await announced.json() })
  const counted = await put(upload, new Blob([TOO_MUCH]).stream())
  await expectTooLarge({ status: counted.status, body: await counted.json() })
})

it('T-11 SESS-01 an upload session refuses a file larger than its provider accepts', async () => {
  const declared = { files: [{ filename: 'a', size_bytes: MAX + 1 }] }
  await expectTooLarge(await locker.call(['locker:write'], 'POST', '/upload-sessions', declared))
  const session = await openTestSession(instance, locker, { files: [{ filename: 'b' }] })
  expect(session.opened.part_max_bytes).toBe(MAX)
  await expectTooLarge(await session.raw(0, TOO_MUCH))
  await expectTooLarge(await session.part(0, TOO_MUCH))
  expect((await session.raw(0, TOO_MUCH.subarray(1))).status).toBe(200)
  expectRefusal(await session.raw(1, 'x'), 413, 'UPLOAD_TOO_LARGE')
  expectRefusal(await session.part(1, 'x'), 413, 'UPLOAD_TOO_LARGE')
  expect((await session.finalize()).body.status).toBe('complete')
  expect(await instance.deliveriesOf(locker)).toMatchObject({ files: 1, bytes: MAX })
  await locker.call(['locker:write'], 'DELETE', '/files/b')
})
