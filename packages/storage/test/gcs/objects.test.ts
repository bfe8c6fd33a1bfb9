import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { keep, newId, streamOf } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const MIB = 1024 * 1024
const ABOUT = { contentType: 'text/plain', size: null }

let gcs: TestGcs
beforeAll(async () => {
  gcs = await startTestGcs()
})
afterAll(() => gcs.close())
afterEach(() => {
  expect(gcs.server.openUploads()).toBe(0)
})

const stored = (id: string) => gcs.server.objects().find(({ name }) => name === `test/${id}`)

/** The requests that the work makes. */
async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
  const before = gcs.server.requests.length
  await work()
  return gcs.server.requests.slice(before)
}

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

it('the Google Cloud Storage driver rejects an object that is too large before a byte is sent', async () => {
  const { maxBytes } = gcs.provider
  expect(maxBytes).toBe(5 * 1024 ** 4)
  const source = streamOf(Buffer.alloc(5 * MIB))
  const requests = await requestsOf(async () => {
    const written = gcs.provider.write(newId(), source, { contentType: 'text/plain', size: maxBytes + 1 })
    await expect(written).rejects.toThrow(RangeError)
  })
  expect([requests, source.isPaused(), source.destroyed]).toEqual([[], true, false])
})

it('the Google Cloud Storage driver rejects a taken id before it sends a large object, and the source stays paused', async () => {
  const { id } = await keep(gcs.provider, Buffer.from('first'))
  const source = streamOf(Buffer.alloc(20 * MIB))
  const requests = await requestsOf(async () => {
    await expect(gcs.provider.write(id, source, ABOUT)).rejects.toThrow('there is an object with this id')
  })
  expect(requests.filter((line) => line.startsWith('PUT'))).toEqual([])
  expect([source.isPaused(), source.destroyed]).toEqual([true, false])
})

it('an object that is removed from Google Cloud Storage during a download is read to its end', {
  tags: ['nightly'],
}, async () => {
  const bytes = randomBytes(5 * MIB)
  const key = await keep(gcs.provider, bytes)
  const stream = (await gcs.provider.read(key))!
  await gcs.provider.remove(key)
  expect(await gcs.provider.stat(key)).toBeNull()
  expect(Buffer.concat(await stream.toArray()).equals(bytes)).toBe(true)
})
