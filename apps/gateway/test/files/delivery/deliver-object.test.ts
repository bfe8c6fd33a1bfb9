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
import { deliveryHouse, hex, openDeliveryHouse, openStages } from './delivery-house.ts'

forEachDatabase('delivery', (database) => {
  const { stages, house, locker } = deliveryHouse(() => ({ DATABASE_URL: database.url }))

  const objectOf = async (filename: string) => (await rowOf(house, locker, filename)).object_id!
  const refOf = async (filename: string) => (await entryOf(locker, filename))?.provider_ref ?? null
  const bytesOf = async (filename: string) => (await publicBytes(house, locker, filename)).toString()
  const enqueue = (kind: 'settle-object' | 'drop-staged', object_id: string, options = {}) =>
    writable(house.gateway.context.database.db)
      .transaction()
      .execute((tx) => house.gateway.context.queue.enqueue(tx, kind, { object_id }, options))

  it("FILE-19 a confirmed file is delivered, and shows its provider's reference from then on", async () => {
    await locker.put('a', 'first')
    const id = await objectOf('a')
    expect(await house.staged()).toEqual([id])
    expect(await entryOf(locker, 'a')).not.toHaveProperty('provider_ref')
    expect((await manifestOf(locker)).files).toMatchObject([{ provider: 'arweave', provider_ref: null }])
    expect(await house.deliveriesOf(locker)).toEqual({ files: 1, bytes: 5, oldest_since: expect.any(String) })

    expect(await house.later(0)).toEqual({ done: 2, failed: 0, dead: 0 })
    const ref = await refOf('a')
    expect(ref).toEqual(expect.any(String))
    const manifest = await manifestOf(locker)
    expect(manifest.files).toMatchObject([{ provider: 'arweave', provider_ref: ref }])
    expect(await house.deliveriesOf(locker)).toBeNull()
    expect(await house.deliveries()).toEqual([])
    expect(await house.staged()).toEqual([])
    expect(await bytesOf('a')).toBe('first')
    expect([house.server.paid(hex('first')), house.server.received(hex('first'))]).toEqual([1, 1])

    for (const kind of ['settle-object', 'drop-staged'] as const) await enqueue(kind, id)
    expect(await house.later(0)).toEqual({ done: 2, failed: 0, dead: 0 })
    expect(await manifestOf(locker)).toEqual(manifest)
    expect(house.server.paid(hex('first'))).toBe(1)
  })

  it('FILE-22 SESS-03 all confirmed files are delivered, however they were uploaded, and no others', async () => {
    for (const name of ['x', 'y', 'unconfirmed']) await locker.put(name, `batch ${name}`, { confirm: false })
    await confirmBatch(house, locker, ['x', 'y', 'nowhere'])
    const session = await openTestSession(house, locker, { files: [{ filename: 's' }, { filename: 'm' }] })
    await session.raw(0, 'one part')
    for (const i of [0, 1]) await session.raw(i, `part ${i}`, { file: 1 })
    await session.finalize()
    const elsewhere = await house.locker(ed25519Identity(), { provider: 'gcs' })
    await elsewhere.put('g', 'quick')
    expect(await house.deliveriesOf(elsewhere)).toBeNull()
    expect(await house.deliveriesOf(locker)).toMatchObject({ files: 4, bytes: 7 + 7 + 8 + 12 })
    expect((await house.deliveries()).map(({ sha256 }) => sha256).sort()).toEqual(
      ['batch x', 'batch y', 'one part', 'part 0part 1'].map(hex).sort(),
    )
    await house.later(0)
    const refs = (await manifestOf(locker)).files.map(({ filename, provider_ref }) => [filename, provider_ref !== null])
    expect(Object.fromEntries(refs)).toEqual({ m: true, s: true, unconfirmed: false, x: true, y: true })
    expect(await bytesOf('m')).toBe('part 0part 1')
    expect((await manifestOf(elsewhere)).files).toMatchObject([{ provider_ref: null }])
    expect(house.server.paid(hex('quick'))).toBe(0)
  })

  const STEPS = ['ordering', 'ordered', 'sending', 'sent'] as const
  it.each(STEPS)('T-19 is paid for once and sent whole once when the connection breaks at %s', async (step) => {
    const bytes = `broken off at ${step}`
    house.server.cutOff(hex(bytes), step)
    await locker.put('a', bytes)
    expect(await house.later(0)).toMatchObject({ done: 0, failed: 1 })
    expect(await refOf('a')).toBeNull()
    expect(await bytesOf('a')).toBe(bytes)
    await house.later(60)
    expect(await refOf('a')).not.toBeNull()
    expect([house.server.paid(hex(bytes)), house.server.received(hex(bytes))]).toEqual([1, 1])
  })

  async function restrict(restriction: 'none' | 'frozen' | 'taken_down') {
    const path = `/v1/internal/operations/lockers/${locker.lockerId}/restriction`
    expect((await house.send('PUT', path, { restriction, reason: 'order 17 of a court' })).status).toBe(200)
  }

  it('T-165 what waits for its delivery when its locker is restricted is delivered only after that', async () => {
    await locker.put('a', 'under seal')
    await restrict('frozen')
    expect(await house.later(0)).toMatchObject({ failed: 0, dead: 0 })
    await restrict('taken_down')
    await house.later(3 * 3600)
    expect(await sweepDeliveries(house.gateway.context)).toBe(0)
    expect([house.server.paid(hex('under seal')), (await house.deliveriesOf(locker))?.files]).toEqual([0, 1])
    const metrics = await (await fetch(`${house.gateway.url}/metrics`)).text()
    expect(metrics).not.toContain('svc_settling_oldest_age_seconds{provider="arweave"}')
    await restrict('none')
    expect(await sweepDeliveries(house.gateway.context)).toBe(1)
    await house.later(0)
    expect([await refOf('a'), house.server.paid(hex('under seal'))]).toEqual([expect.any(String), 1])
  })

  it('T-165 a delivery that has begun sends nothing more once its locker is taken down', async () => {
    const contents = ['cut off before', 'under way']
    const received = () => contents.map((bytes) => house.server.received(hex(bytes)))
    house.server.cutOff(hex('cut off before'), 'ordered')
    await locker.put('a', 'cut off before')
    expect(await house.later(0)).toMatchObject({ failed: 1 })
    const held = house.server.holdUp(hex('under way'), 'ordered')
    await locker.put('b', 'under way')
    const draining = house.later(0)
    await held.reached
    await restrict('taken_down')
    held.letGo()
    expect(await draining).toMatchObject({ failed: 0 })
    expect(await house.later(3600)).toMatchObject({ failed: 0, dead: 0 })
    expect(received()).toEqual([0, 0])
    await restrict('none')
    await house.later(3 * 3600)
    expect(received()).toEqual([1, 1])
    expect(contents.map((bytes) => house.server.paid(hex(bytes)))).toEqual([1, 1])
  })

  it('a delivery waits for a provider that is down for days, and for a slow one', async () => {
    house.server.isDown = true
    await locker.put('a', 'patience')
    for (let i = 0; i < 6; i++) expect(await house.later(8 * 3600)).toMatchObject({ dead: 0 })
    expect((await house.deliveriesOf(locker))?.files).toBe(1)
    house.server.isDown = false
    house.server.isSealing = false
    for (let i = 0; i < 2; i++) await house.later(3600)
    expect([await refOf('a'), house.server.received(hex('patience'))]).toEqual([null, 1])
    house.server.isSealing = true
    await house.later(3600)
    expect(await refOf('a')).not.toBeNull()
    expect([house.server.paid(hex('patience')), house.server.received(hex('patience'))]).toEqual([1, 1])
  })

  it('the staged copy is kept until the provider returns the same bytes', async () => {
    house.server.isReadable = false
    await locker.put('a', 'not shown yet')
    const id = await objectOf('a')
    const staged = join(stages.folder, 'objects', id.slice(0, 2), id)
    expect(await house.later(0)).toMatchObject({ done: 1, failed: 1 })
    expect(await refOf('a')).not.toBeNull()
    expect(await bytesOf('a')).toBe('not shown yet')
    house.server.isReadable = true
    for (const other of ['not shown yet!', 'not shown YET']) {
      await writeFile(staged, other)
      expect(await house.later(3600)).toMatchObject({ failed: 1 })
      expect(await house.staged()).toContain(id)
    }
    await writeFile(staged, 'not shown yet')
    expect(await house.later(3600)).toMatchObject({ failed: 0 })
    expect(await house.staged()).not.toContain(id)
    expect(await bytesOf('a')).toBe('not shown yet')
  })

  it('a delivery that was given up is still reported, and resumed by the sweep', async () => {
    const { queue, database: opened } = house.gateway.context
    house.server.isDown = true
    await locker.put('a', 'given up')
    const jobs = sql.table(database.dialect === 'sqlite' ? 'jobs' : 'pgboss.job')
    await sql`delete from ${jobs}`.execute(writable(opened.db))
    await enqueue('settle-object', await objectOf('a'), { maxAttempts: 1 })
    expect(await house.later(0)).toMatchObject({ dead: 1 })
    expect(await queue.deadLetters()).toMatchObject([{ kind: 'settle-object', attempts: 1 }])
    house.server.isDown = false
    await house.later(3600)
    expect(await refOf('a')).toBeNull()
    await house.later(2 * 3600)
    expect(await refOf('a')).not.toBeNull()
  })
})

const MAX = 1000
const TOO_MUCH = Buffer.alloc(MAX + 1)
const stages = forAllTests(openStages)
const house = forAllTests(() => openDeliveryHouse(stages, {}, { maxBytes: MAX }))
const locker = forAllTests(() => house.locker(ed25519Identity()))

async function expectTooLarge({ status, body }: { status: number; body: unknown }): Promise<void> {
  const { error, message, details } = body as ErrorReply
  expect([status, error, details.max_bytes]).toEqual([413, 'UPLOAD_TOO_LARGE', MAX])
  expect(message).toContain(String(MAX))
  expect([await house.staged(), await house.deliveries()]).toEqual([[], []])
}

it('T-11 an upload larger than its provider takes is refused, by its declared or its counted size', async () => {
  const { upload } = await createFile(house, locker, 'a')
  const announced = await put(upload, TOO_MUCH)
  await expectTooLarge({ status: announced.status, body: await announced.json() })
  const counted = await put(upload, new Blob([TOO_MUCH]).stream())
  await expectTooLarge({ status: counted.status, body: await counted.json() })
})

it('T-11 SESS-01 an upload session refuses a file larger than its provider takes', async () => {
  const declared = { files: [{ filename: 'a', size_bytes: MAX + 1 }] }
  await expectTooLarge(await locker.call(['locker:write'], 'POST', '/upload-sessions', declared))
  const session = await openTestSession(house, locker, { files: [{ filename: 'b' }] })
  expect(session.opened.part_max_bytes).toBe(MAX)
  await expectTooLarge(await session.raw(0, TOO_MUCH))
  await expectTooLarge(await session.part(0, TOO_MUCH))
  expect((await session.raw(0, TOO_MUCH.subarray(1))).status).toBe(200)
  expectRefusal(await session.raw(1, 'x'), 413, 'UPLOAD_TOO_LARGE')
  expectRefusal(await session.part(1, 'x'), 413, 'UPLOAD_TOO_LARGE')
  expect((await session.finalize()).body.status).toBe('complete')
  expect(await house.deliveriesOf(locker)).toMatchObject({ files: 1, bytes: MAX })
  await locker.call(['locker:write'], 'DELETE', '/files/b')
})
