import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../src/provider.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const MIB = 1024 * 1024
const MEDIA = /alt=media/
const FIND = /^GET .*fields=size/
const bytes = randomBytes(9 * MIB)

let gcs: TestGcs
let key: ObjectKey
beforeAll(async () => {
  gcs = await startTestGcs()
  key = await keep(gcs.provider, bytes)
})
afterAll(() => gcs.close())
afterEach(() => gcs.server.recover())

const readAll = async () => (await fetchBytes(gcs.provider, key))!

describe('the Google Cloud Storage driver, reading after a temporary error,', () => {
  it.each([
    ['a server error', { status: 503 }, 3],
    ['a connection that breaks before the first byte', 'lost answer', 2],
    ['a connection that breaks', { cutAnswerAt: 2 * MIB + 1 }, 3],
    ['a connection that breaks at the first byte', { cutAnswerAt: 1 }, 3],
  ] as const)('returns the object after %s', { tags: ['nightly'] }, async (_, fault, times) => {
    gcs.server.fail({ at: MEDIA, times, fault })
    expect((await readAll()).equals(bytes)).toBe(true)
  })

  it('returns a range', async () => {
    gcs.server.fail({ at: MEDIA, times: 3, fault: { cutAnswerAt: 100_000 } })
    const part = await fetchBytes(gcs.provider, key, { start: 5, end: 8 * MIB })
    expect(part!.equals(bytes.subarray(5, 8 * MIB + 1))).toBe(true)
  })

  it('reports whether an object exists', async () => {
    gcs.server.fail({ at: /\/storage\/v1/, times: 3, fault: { status: 500 } })
    expect(await gcs.provider.stat(key)).toEqual({ size: bytes.length })
    gcs.server.fail({ at: /\/storage\/v1/, times: 3, fault: 'lost answer' })
    expect(await gcs.provider.stat({ id: newId(), ref: null })).toBeNull()
  })

  it('removes an object', async () => {
    const other = await keep(gcs.provider, Buffer.from('other'))
    gcs.server.fail({ at: /^DELETE/, times: 2, fault: 'lost answer' })
    expect(await gcs.provider.remove(other)).toBe('removed')
    expect(await gcs.provider.stat(other)).toBeNull()
  })
})

describe('the Google Cloud Storage driver, reading while the store fails,', () => {
  it('ends a stream with an error, not as if it were complete', async () => {
    gcs.server.fail({ at: MEDIA, fault: { cutAnswerAt: 1000 } })
    const stream = (await gcs.provider.read(key))!
    await expect(buffer(stream)).rejects.toMatchObject({ name: 'ProviderError', reason: 'unavailable' })
  })

  it('fails when the object was removed or replaced before a stream is resumed', async () => {
    for (const replace of [false, true]) {
      const { id } = await keep(gcs.provider, bytes)
      gcs.server.fail({ at: MEDIA, times: 1, fault: { cutAnswerAt: MIB } })
      const stream = (await gcs.provider.read({ id, ref: null }))!
      await once(stream, 'readable')
      await gcs.provider.remove({ id, ref: null })
      if (replace) await keep(gcs.provider, randomBytes(bytes.length), id)
      await expect(buffer(stream)).rejects.toMatchObject({ reason: 'unavailable' })
    }
  })

  it.each([
    ['unavailable', 500, 'backendError'],
    ['closed', 401, 'authError'],
    ['closed', 403, 'forbidden'],
    ['unavailable', 418, 'teapot'],
  ] as const)('reports the provider as %s when the answer is %i', async (reason, status, code) => {
    gcs.server.fail({ at: /\/storage\/v1/, fault: { status, reason: code } })
    const error = { name: 'ProviderError', reason, cause: { message: expect.stringContaining(`${status}`) } }
    await expect(gcs.provider.read(key)).rejects.toMatchObject(error)
    await expect(gcs.provider.stat(key)).rejects.toMatchObject(error)
    await expect(gcs.provider.absent([key])).rejects.toMatchObject(error)
    await expect(gcs.provider.remove(key)).rejects.toMatchObject(error)
    expect(await gcs.provider.check()).toBe(false)
  })

  it('T-31 shows nothing of the answer in the message of the error', async () => {
    gcs.server.fail({ at: FIND, fault: { status: 403, reason: 'forbidden' } })
    await expect(gcs.provider.stat(key)).rejects.toThrow(/^the storage provider is closed$/)
  })

  it('distinguishes a missing bucket from a missing object', async () => {
    const elsewhere = await gcs.open({ bucket: 'another' })
    const absent = { id: newId(), ref: null }
    await expect(elsewhere.read(absent)).rejects.toMatchObject({ reason: 'closed' })
    await expect(elsewhere.stat(absent)).rejects.toMatchObject({ reason: 'closed' })
    await expect(elsewhere.absent([absent])).rejects.toMatchObject({ reason: 'closed' })
    await expect(elsewhere.remove(absent)).rejects.toMatchObject({ reason: 'closed' })
    expect(await elsewhere.check()).toBe(false)
    expect(await gcs.provider.check()).toBe(true)
  })

  it('rejects an answer that is not valid JSON', async () => {
    gcs.server.fail({ at: FIND, fault: 'invalid response' })
    await expect(gcs.provider.stat(key)).rejects.toMatchObject({ reason: 'unavailable' })
  })

  it('is unavailable while the store is down, and works again when it is back', async () => {
    await gcs.server.stop()
    await expect(gcs.provider.read(key)).rejects.toMatchObject({ reason: 'unavailable' })
    await expect(gcs.provider.stat(key)).rejects.toMatchObject({ reason: 'unavailable' })
    expect(await gcs.provider.check()).toBe(false)
    await gcs.restart()
    expect((await readAll()).equals(bytes)).toBe(true)
    expect(await gcs.provider.check()).toBe(true)
  })
})
