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

describe('trouble that passes', () => {
  it.each([
    ['a store in trouble', { status: 503 }, 3],
    ['a connection that breaks before the first byte', 'lost answer', 2],
    ['a connection that breaks', { cutAnswerAt: 2 * MIB + 1 }, 3],
    ['one that breaks at the first byte', { cutAnswerAt: 1 }, 3],
  ] as const)('of %s does not keep an object from its reader', async (_, mishap, times) => {
    gcs.server.fail({ at: MEDIA, times, mishap })
    expect((await readAll()).equals(bytes)).toBe(true)
  })

  it('does not keep a range from its reader', async () => {
    gcs.server.fail({ at: MEDIA, times: 3, mishap: { cutAnswerAt: 100_000 } })
    const part = await fetchBytes(gcs.provider, key, { start: 5, end: 8 * MIB })
    expect(part!.equals(bytes.subarray(5, 8 * MIB + 1))).toBe(true)
  })

  it('does not keep anybody from knowing what is there', async () => {
    gcs.server.fail({ at: /\/storage\/v1/, times: 3, mishap: { status: 500 } })
    expect(await gcs.provider.stat(key)).toEqual({ size: bytes.length })
    gcs.server.fail({ at: /\/storage\/v1/, times: 3, mishap: 'lost answer' })
    expect(await gcs.provider.stat({ id: newId(), ref: null })).toBeNull()
  })

  it('does not keep an object from being removed', async () => {
    const other = await keep(gcs.provider, Buffer.from('other'))
    gcs.server.fail({ at: /^DELETE/, times: 2, mishap: 'lost answer' })
    expect(await gcs.provider.remove(other)).toBe('removed')
    expect(await gcs.provider.stat(other)).toBeNull()
  })
})

describe('trouble that stays', () => {
  it('ends a stream with an error, and not as if that were all', async () => {
    gcs.server.fail({ at: MEDIA, mishap: { cutAnswerAt: 1000 } })
    const stream = (await gcs.provider.read(key))!
    await expect(buffer(stream)).rejects.toMatchObject({ name: 'ProviderError', reason: 'unavailable' })
  })

  it('is told of an object that is gone, or another, when a stream has to go on', async () => {
    for (const replace of [false, true]) {
      const { id } = await keep(gcs.provider, bytes)
      gcs.server.fail({ at: MEDIA, times: 1, mishap: { cutAnswerAt: MIB } })
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
  ] as const)('is told by what it is: %s for %i', async (reason, status, told) => {
    gcs.server.fail({ at: /\/storage\/v1/, mishap: { status, reason: told } })
    const trouble = { name: 'ProviderError', reason, cause: { message: expect.stringContaining(`${status}`) } }
    await expect(gcs.provider.read(key)).rejects.toMatchObject(trouble)
    await expect(gcs.provider.stat(key)).rejects.toMatchObject(trouble)
    await expect(gcs.provider.absent([key])).rejects.toMatchObject(trouble)
    await expect(gcs.provider.remove(key)).rejects.toMatchObject(trouble)
    expect(await gcs.provider.check()).toBe(false)
  })

  it('T-31 says nothing of the store in its own words', async () => {
    gcs.server.fail({ at: FIND, mishap: { status: 403, reason: 'forbidden' } })
    await expect(gcs.provider.stat(key)).rejects.toThrow(/^the storage provider is closed$/)
  })

  it('knows a bucket that is gone from an object that is missing', async () => {
    const astray = await gcs.open({ bucket: 'another' })
    const absent = { id: newId(), ref: null }
    await expect(astray.read(absent)).rejects.toMatchObject({ reason: 'closed' })
    await expect(astray.stat(absent)).rejects.toMatchObject({ reason: 'closed' })
    await expect(astray.absent([absent])).rejects.toMatchObject({ reason: 'closed' })
    await expect(astray.remove(absent)).rejects.toMatchObject({ reason: 'closed' })
    expect(await astray.check()).toBe(false)
    expect(await gcs.provider.check()).toBe(true)
  })

  it('is no answer that cannot be read', async () => {
    gcs.server.fail({ at: FIND, mishap: 'nonsense' })
    await expect(gcs.provider.stat(key)).rejects.toMatchObject({ reason: 'unavailable' })
  })

  it('of a store that is not there is told, and over when it is back', async () => {
    await gcs.server.stop()
    await expect(gcs.provider.read(key)).rejects.toMatchObject({ reason: 'unavailable' })
    await expect(gcs.provider.stat(key)).rejects.toMatchObject({ reason: 'unavailable' })
    expect(await gcs.provider.check()).toBe(false)
    await gcs.restart()
    expect((await readAll()).equals(bytes)).toBe(true)
    expect(await gcs.provider.check()).toBe(true)
  })
})
