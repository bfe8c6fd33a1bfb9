import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Mishap } from '@svc/devnet/providers/gcs/faults'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/provider.ts'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const MIB = 1024 * 1024
const WHOLE = /uploadType=multipart/
const SESSION = /^POST .*uploadType=resumable/
const CHUNK = /^PUT .*upload_id/
const FIND = /^GET \/storage/
const CANCEL = /^DELETE .*upload_id/
const UPLOAD = /^(?:POST|PUT) \/upload/

let gcs: TestGcs
beforeAll(async () => {
  gcs = await startTestGcs()
})
afterAll(() => gcs.close())
afterEach(() => gcs.server.recover())

const isKept = (id: string) => gcs.server.objects().some(({ name }) => name.endsWith(id))

/** The requests that something takes. */
async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
  const before = gcs.server.requests.length
  await work()
  return gcs.server.requests.slice(before)
}

/** Writes what comes to nothing, and looks whether it did. */
async function expectNothing(size: number, complaint: object) {
  const id = newId()
  const source = streamOf(Buffer.alloc(size))
  const written = gcs.provider.write(id, source, { contentType: 'text/plain', size })
  const failure: unknown = await written.catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  expect(failure).toMatchObject(complaint)
  expect(source.destroyed && !source.readableEnded).toBe(false)
  expect([isKept(id), gcs.server.openUploads()]).toEqual([false, 0])
}

describe('trouble that passes', () => {
  const [small, large] = [100_000, 9 * MIB + 5]
  const passing: [string, size: number, at: RegExp, times: number, Mishap][] = [
    ['a store in trouble', small, WHOLE, 3, { status: 503 }],
    ['a store in trouble', large, UPLOAD, 3, { status: 500 }],
    ['too many requests', small, WHOLE, 3, { status: 429, reason: 'rateLimitExceeded' }],
    ['too many requests', large, CHUNK, 2, { status: 403, reason: 'userRateLimitExceeded' }],
    ['a broken connection', small, WHOLE, 3, { cutBodyAt: 5000 }],
    ['a broken connection', large, CHUNK, 3, { cutBodyAt: 700_000 }],
    ['a lost answer', small, WHOLE, 1, 'lost answer'],
    ['a lost answer', large, CHUNK, 1, 'lost answer'],
    ['lost answers', 2 * MIB, CHUNK, 2, 'lost answer'],
    ['chunks of which not all is kept', large, CHUNK, 2, { keepOfChunk: 256 * 1024 }],
  ]
  it.each(passing)('of %s does not keep %i bytes from being kept, once', async (_, size, at, times, mishap) => {
    const bytes = randomBytes(size)
    gcs.server.fail({ at, times, mishap })
    const key = await keep(gcs.provider, bytes)
    expect((await fetchBytes(gcs.provider, key))!.equals(bytes)).toBe(true)
    expect(gcs.server.openUploads()).toBe(0)
  })

  it('when a session is begun leaves no more than an empty session', async () => {
    gcs.server.fail({ at: SESSION, times: 1, mishap: 'lost answer' })
    const key = await keep(gcs.provider, Buffer.alloc(large))
    expect(await gcs.provider.stat(key)).toEqual({ size: large })
    expect(gcs.server.openUploads()).toBe(1)
    await gcs.restart()
  })

  it('knows an object of its own from that of another when its answer was lost', async () => {
    const id = newId()
    const other = await gcs.open()
    await keep(other, Buffer.from('of another'), id)
    gcs.server.fail({ at: WHOLE, mishap: 'lost answer', times: 1 })
    await expect(keep(gcs.provider, Buffer.from('mine'), id)).rejects.toThrow('there is an object with this id')
    expect(await fetchBytes(gcs.provider, { id, ref: null })).toEqual(Buffer.from('of another'))
    await expect(keep(gcs.provider, Buffer.alloc(3 * MIB), id)).rejects.toThrow('there is an object with this id')
    expect(await fetchBytes(gcs.provider, { id, ref: null })).toEqual(Buffer.from('of another'))
  })
})

describe('trouble that stays', () => {
  it.each([100_000, 9 * MIB])('leaves nothing of %i bytes, whatever it is', async (size) => {
    for (const mishap of [{ status: 500 }, { status: 503 }, { cutBodyAt: 1000 }] satisfies Mishap[]) {
      gcs.server.recover()
      gcs.server.fail({ at: UPLOAD, mishap })
      await expectNothing(size, { reason: 'unavailable' })
    }
  })

  it.each([
    [10, WHOLE, 0],
    [MIB + 1, CHUNK, 1],
  ])('takes back %i bytes that came to be kept without an answer', async (size, at, after) => {
    gcs.server.fail({ at, after, times: 1, mishap: 'lost answer' })
    gcs.server.fail({ at, mishap: { status: 503 } })
    gcs.server.fail({ at: FIND, times: 1, mishap: { status: 503 } })
    await expectNothing(size, { reason: 'unavailable' })
  })

  it('is tried a few times and then told, with its cause for the log', async () => {
    gcs.server.fail({ at: UPLOAD, mishap: { status: 503 } })
    const requests = await requestsOf(() =>
      expectNothing(10, { reason: 'unavailable', cause: { message: expect.stringContaining('503') } }),
    )
    expect(requests.filter((line) => UPLOAD.test(line))).toHaveLength(4)
  })

  it.each([
    ['full', 403, 'quotaExceeded'],
    ['closed', 403, 'forbidden'],
    ['closed', 403, 'accountDisabled'],
    ['unavailable', 400, 'invalid'],
  ] as const)('is told by what it is, and not tried again: %s', async (reason, status, told) => {
    gcs.server.fail({ at: UPLOAD, mishap: { status, reason: told } })
    for (const size of [10, 3 * MIB]) {
      const requests = await requestsOf(() => expectNothing(size, { reason }))
      expect(requests.filter((line) => UPLOAD.test(line))).toHaveLength(1)
    }
  })

  it('is told of a bucket that is not there', async () => {
    const astray = await gcs.open({ bucket: 'another' })
    for (const size of [10, 3 * MIB]) {
      await expect(keep(astray, Buffer.alloc(size))).rejects.toMatchObject({ reason: 'closed' })
    }
  })

  it('of quotas in the middle of an object leaves nothing of it', async () => {
    gcs.server.fail({ at: CHUNK, times: 2, mishap: { keepOfChunk: MIB } })
    gcs.server.fail({ at: CHUNK, mishap: { status: 403, reason: 'quotaExceeded' } })
    const requests = await requestsOf(() => expectNothing(9 * MIB, { reason: 'full' }))
    expect(requests.filter((line) => CANCEL.test(line))).toHaveLength(1)
  })

  it.each([404, 410])('of a session that is gone (%i) leaves nothing', async (status) => {
    gcs.server.fail({ at: CHUNK, mishap: { status, reason: 'gone' } })
    await expectNothing(3 * MIB, { reason: 'unavailable' })
  })

  it('of a store that lost what it had, or has more than it was sent, is no success', async () => {
    const source = (id: string) =>
      gcs.provider.write(id, streamOf(Buffer.alloc(9 * MIB)), { contentType: 'text/plain', size: null })
    for (const claim of [{ claimKept: 0 }, { claimKept: 90 * MIB }] satisfies Mishap[]) {
      gcs.server.recover()
      gcs.server.fail({ at: CHUNK, times: 1, mishap: { keepOfChunk: MIB } })
      gcs.server.fail({ at: CHUNK, mishap: claim })
      const id = newId()
      await expect(source(id)).rejects.toMatchObject({ reason: 'unavailable' })
      expect([isKept(id), gcs.server.openUploads()]).toEqual([false, 0])
    }
  })

  it('is not hidden by trouble in cleaning up', async () => {
    gcs.server.fail({ at: CHUNK, mishap: { status: 403, reason: 'quotaExceeded' } })
    gcs.server.fail({ at: CANCEL, mishap: { status: 500 } })
    await expect(keep(gcs.provider, Buffer.alloc(3 * MIB))).rejects.toMatchObject({ reason: 'full' })
    await gcs.restart()
  })

  it('of a store that is not there at all is told', async () => {
    await gcs.server.stop()
    for (const size of [10, 3 * MIB]) {
      await expect(keep(gcs.provider, Buffer.alloc(size))).rejects.toMatchObject({ reason: 'unavailable' })
    }
    await gcs.restart()
    expect(await gcs.provider.stat(await keep(gcs.provider, Buffer.alloc(10)))).toEqual({ size: 10 })
  })
})

describe('a source that fails', () => {
  it.each([
    ['while a chunk is on its way', CHUNK],
    ['while a session is begun', SESSION],
  ])('%s ends all at once, with its own error', async (_, at) => {
    if (at === CHUNK) gcs.server.fail({ at, mishap: 'silence' })
    const complaint = new Error('no more')
    const source = new Readable({ read() {} })
    source.push(Buffer.alloc(3 * MIB))
    const id = newId()
    const arrived = gcs.server.until(at)
    const written = gcs.provider.write(id, source, { contentType: 'text/plain', size: null })
    await arrived
    source.destroy(complaint)
    await expect(written).rejects.toBe(complaint)
    expect([isKept(id), gcs.server.openUploads()]).toEqual([false, 0])
  })
})
