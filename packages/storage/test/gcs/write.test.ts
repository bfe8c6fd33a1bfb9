import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { forAllTests } from '@svc/devnet/for-tests'
import type { Fault } from '@svc/devnet/providers/gcs/faults'
import { afterEach, describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/provider.ts'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'
import { startTestGcs } from './start-gcs.ts'

const MIB = 1024 * 1024
const WHOLE = /uploadType=multipart/
const SESSION = /^POST .*uploadType=resumable/
const CHUNK = /^PUT .*upload_id/
const FIND = /^GET \/storage/
const CANCEL = /^DELETE .*upload_id/
const UPLOAD = /^(?:POST|PUT) \/upload/

const gcs = forAllTests(() => startTestGcs())
afterEach(() => gcs.server.recover())

const stored = (id: string) => gcs.server.objects().find(({ name }) => name === `test/${id}`)
const isStored = (id: string) => stored(id) !== undefined

/** The requests that the work makes. */
async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
  const before = gcs.server.requests.length
  await work()
  return gcs.server.requests.slice(before)
}

/** Writes an object, and expects that it fails and leaves nothing. */
async function expectNothing(size: number, sourceError: object) {
  const id = newId()
  const source = streamOf(Buffer.alloc(size))
  const written = gcs.provider.write(id, source, { contentType: 'text/plain', size })
  const failure: unknown = await written.catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  expect(failure).toMatchObject(sourceError)
  expect(source.destroyed && !source.readableEnded).toBe(false)
  expect([isStored(id), gcs.server.openUploads()]).toEqual([false, 0])
}

describe('writing with the Google Cloud Storage driver after a temporary error', () => {
  const [small, large] = [100_000, 9 * MIB + 5]
  const temporary: [string, size: number, at: RegExp, times: number, Fault][] = [
    ['a server error', small, WHOLE, 3, { status: 503 }],
    ['a server error', large, UPLOAD, 3, { status: 500 }],
    ['a rate limit', large, CHUNK, 2, { status: 403, reason: 'userRateLimitExceeded' }],
    ['a broken connection', small, WHOLE, 3, { cutBodyAt: 5000 }],
    ['a broken connection', large, CHUNK, 3, { cutBodyAt: 700_000 }],
    ['a lost answer', small, WHOLE, 1, 'lost answer'],
    ['a lost answer', large, CHUNK, 1, 'lost answer'],
    ['chunks that are stored only in part', large, CHUNK, 2, { keepOfChunk: 256 * 1024 }],
    ['a session that has expired', large, CHUNK, 1, { expireSession: 410 }],
  ]
  it.each(temporary)('after %s stores %i bytes once', async (_, size, at, times, fault) => {
    const bytes = randomBytes(size)
    gcs.server.fail({ at, times, fault })
    const key = await keep(gcs.provider, bytes)
    expect((await fetchBytes(gcs.provider, key))!.equals(bytes)).toBe(true)
    expect(gcs.server.openUploads()).toBe(0)
  })

  it('leaves no more than an empty session when the answer to its beginning was lost', async () => {
    gcs.server.fail({ at: SESSION, times: 1, fault: 'lost answer' })
    const key = await keep(gcs.provider, Buffer.alloc(large))
    expect(await gcs.provider.stat(key)).toEqual({ size: large })
    expect(gcs.server.openUploads()).toBe(1)
    await gcs.restart()
  })

  it('distinguishes its own object from that of another writer when its answer was lost', async () => {
    const id = newId()
    const other = await gcs.open()
    await keep(other, Buffer.from('of another'), id)
    gcs.server.fail({ at: WHOLE, fault: 'lost answer', times: 1 })
    await expect(keep(gcs.provider, Buffer.from('mine'), id)).rejects.toThrow('an object with this id already exists')
    expect(await fetchBytes(gcs.provider, { id, ref: null })).toEqual(Buffer.from('of another'))
    await expect(keep(gcs.provider, Buffer.alloc(3 * MIB), id)).rejects.toThrow('an object with this id already exists')
    expect(await fetchBytes(gcs.provider, { id, ref: null })).toEqual(Buffer.from('of another'))
  })
})

describe('writing with the Google Cloud Storage driver while the store fails', () => {
  it.each([
    [10, WHOLE, 0],
    [MIB + 1, CHUNK, 1],
  ])('removes %i bytes that were stored although the answer was an error', async (size, at, after) => {
    gcs.server.fail({ at, after, times: 1, fault: 'lost answer' })
    gcs.server.fail({ at, fault: { status: 503 } })
    gcs.server.fail({ at: FIND, times: 1, fault: { status: 503 } })
    await expectNothing(size, { reason: 'unavailable' })
  })

  it('tries a few times, and then throws an error with the cause', async () => {
    gcs.server.fail({ at: UPLOAD, fault: { status: 503 } })
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
  ] as const)('does not try again when the provider is %s', async (reason, status, code) => {
    gcs.server.fail({ at: UPLOAD, fault: { status, reason: code } })
    for (const size of [10, 3 * MIB]) {
      const requests = await requestsOf(() => expectNothing(size, { reason }))
      expect(requests.filter((line) => UPLOAD.test(line))).toHaveLength(1)
    }
  })

  it('leaves nothing when the quota is exceeded in the middle of an object', async () => {
    gcs.server.fail({ at: CHUNK, times: 2, fault: { keepOfChunk: MIB } })
    gcs.server.fail({ at: CHUNK, fault: { status: 403, reason: 'quotaExceeded' } })
    const requests = await requestsOf(() => expectNothing(9 * MIB, { reason: 'full' }))
    expect(requests.filter((line) => CANCEL.test(line))).toHaveLength(1)
  })

  it.each([
    ['and the next one too', 0],
    ['after some of the bytes were sent', 1],
  ])('leaves nothing when its session expires %s', async (_, after) => {
    gcs.server.fail({ at: CHUNK, after, fault: { expireSession: 410 } })
    const requests = await requestsOf(() => expectNothing(9 * MIB, { reason: 'unavailable' }))
    expect(requests.filter((line) => SESSION.test(line))).toHaveLength(after === 0 ? 2 : 1)
  })

  it.each<[string, size: number, at: RegExp, later: Fault[]]>([
    ['in one request', 100_000, WHOLE, []],
    ['in a session', 9 * MIB, CHUNK, []],
    ['in a session that ends without bytes', MIB + 1, CHUNK, [{ keepOfChunk: MIB }]],
  ])('T-139 leaves nothing of bytes that change on their way %s', async (_, size, at, later) => {
    for (const fault of [{ flipBodyAt: 50_000 }, ...later]) gcs.server.fail({ at, times: 1, fault })
    await expectNothing(size, { reason: 'unavailable', cause: { message: expect.stringMatching(/CRC32C/) } })
  })

  it('fails when the store claims fewer bytes than before, or more than were sent', async () => {
    const source = (id: string) =>
      gcs.provider.write(id, streamOf(Buffer.alloc(9 * MIB)), { contentType: 'text/plain', size: null })
    for (const claim of [{ claimKept: 0 }, { claimKept: 90 * MIB }] satisfies Fault[]) {
      gcs.server.recover()
      gcs.server.fail({ at: CHUNK, times: 1, fault: { keepOfChunk: MIB } })
      gcs.server.fail({ at: CHUNK, fault: claim })
      const id = newId()
      await expect(source(id)).rejects.toMatchObject({ reason: 'unavailable' })
      expect([isStored(id), gcs.server.openUploads()]).toEqual([false, 0])
    }
  })

  it('reports the first failure when removing the rest fails too', async () => {
    gcs.server.fail({ at: CHUNK, fault: { status: 403, reason: 'quotaExceeded' } })
    gcs.server.fail({ at: CANCEL, fault: { status: 500 } })
    await expect(keep(gcs.provider, Buffer.alloc(3 * MIB))).rejects.toMatchObject({ reason: 'full' })
    await gcs.restart()
  })
})

describe('a source of the Google Cloud Storage driver that fails', () => {
  it.each([
    ['while a chunk is being sent', CHUNK],
    ['while a session is being begun', SESSION],
  ])('%s ends the write immediately, with its own error', async (_, at) => {
    if (at === CHUNK) gcs.server.fail({ at, fault: 'silence' })
    const sourceError = new Error('no more')
    const source = new Readable({ read() {} })
    source.push(Buffer.alloc(3 * MIB))
    const id = newId()
    const arrived = gcs.server.until(at)
    const written = gcs.provider.write(id, source, { contentType: 'text/plain', size: null })
    await arrived
    source.destroy(sourceError)
    await expect(written).rejects.toBe(sourceError)
    expect([isStored(id), gcs.server.openUploads()]).toEqual([false, 0])
  })
})

it('SESS-03 an object that two gateways make of the same parts at once is lost to neither', async () => {
  const [id, bytes] = [newId(), randomBytes(MIB)]
  const ref = await gcs.provider.parts.begin(id, { contentType: 'text/plain', partBytes: MIB })
  const upload = { id, ref, contentType: 'text/plain' }
  const part = { index: 0, size: MIB, isLast: false, maxBytes: MIB }
  const written = { ...part, ref: (await gcs.provider.parts.write(upload, part, streamOf(bytes)))! }
  const completed = await gcs.provider.parts.complete(upload, [written])
  // The other one checks before the object exists, and combines the parts when they are gone.
  gcs.server.fail({ at: FIND, times: 1, fault: { status: 404 } })
  expect(await gcs.provider.parts.complete(upload, [written])).toEqual(completed)
  expect((await fetchBytes(gcs.provider, { id, ref: null }))!.equals(bytes)).toBe(true)
})

it('the Google Cloud Storage driver names an object by prefix and id, and stores its content type', async () => {
  for (const [size, contentType] of [
    [3, 'image/png'],
    [3 * MIB, 'a/b; c="d"'],
  ] as const) {
    const id = newId()
    await gcs.provider.write(id, streamOf(Buffer.alloc(size)), { contentType, size })
    expect(stored(id)).toMatchObject({ size, contentType })
  }
})

it('the Google Cloud Storage driver sends small objects in one request, and large ones in sessions', {
  tags: ['nightly'],
}, async () => {
  await gcs.provider.check() // requests a token
  const write = (size: number, declared: number | null) => () =>
    gcs.provider.write(newId(), streamOf(Buffer.alloc(size)), { contentType: 'text/plain', size: declared })
  for (const size of [0, 1, MIB]) {
    for (const declared of [size, null]) expect(await requestsOf(write(size, declared))).toHaveLength(1)
  }
  const [begun, ...chunks] = await requestsOf(write(20 * MIB + 1, null))
  expect(begun).toMatch(/^POST .*uploadType=resumable.*ifGenerationMatch=0/)
  expect(chunks.length).toBeGreaterThan(1)
})

it('the Google Cloud Storage driver rejects a content type that contains a line break', async () => {
  const contentType = 'text/plain\r\n\r\nbytes of another'
  for (const size of [10, 3 * MIB]) {
    const id = newId()
    const written = gcs.provider.write(id, streamOf(Buffer.alloc(size)), { contentType, size })
    await expect(written).rejects.toMatchObject({ code: 'ERR_INVALID_CHAR' })
    expect(stored(id)).toBeUndefined()
  }
})
