import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { fetchBytes, keep, newId } from '../objects.ts'
import { openTestStorj, type TestStorj } from './start-storj.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const CLOSED = { name: 'ProviderError', reason: 'closed' }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('the Storj driver, reading,', () => {
  let storj: TestStorj
  beforeEach(async () => {
    storj = await openTestStorj()
  })

  it('returns objects, whole and in ranges, after the store was restarted', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(64 * MIB + 12_345)
    const key = await keep(storj.provider, bytes)
    await storj.restart()
    expect(sha256((await fetchBytes(storj.provider, key))!)).toBe(sha256(bytes))
    for (const [start, end] of [
      [0, 0],
      [64 * MIB - 1, 64 * MIB],
      [MIB, 64 * MIB + 9],
      [bytes.length - 1, bytes.length - 1],
    ] as const) {
      const part = await fetchBytes(storj.provider, key, { start, end })
      expect(sha256(part!)).toBe(sha256(bytes.subarray(start, end + 1)))
    }
  })

  it.each([[undefined], [{ start: MIB, end: 9 * MIB }]])(
    'resumes a download that broke off (range: %o)',
    async (range) => {
      const bytes = randomBytes(10 * MIB)
      const key = await keep(storj.provider, bytes)
      for (const cutAnswerAt of [1, MIB, 2 * MIB]) storj.server.fail({ at: /^GET/, fault: { cutAnswerAt }, times: 1 })
      storj.server.fail({ at: /^GET/, fault: { status: 503, code: 'SlowDown' }, times: 2 })
      const expected = range ? bytes.subarray(range.start, range.end + 1) : bytes
      expect(sha256((await fetchBytes(storj.provider, key, range))!)).toBe(sha256(expected))
      expect(storj.server.requests.filter((line) => line.startsWith('GET'))).toHaveLength(6)
    },
  )

  it('fails when a download keeps breaking off', async () => {
    const key = await keep(storj.provider, randomBytes(3 * MIB))
    storj.server.fail({ at: /^GET/, fault: { cutAnswerAt: MIB / 2 } })
    await expect(fetchBytes(storj.provider, key)).rejects.toMatchObject(UNAVAILABLE)
    expect(storj.server.requests.filter((line) => line.startsWith('GET'))).toHaveLength(4)
  })

  it.each(['is removed', 'is replaced'])(
    'fails when the object %s before a download is resumed',
    { tags: ['nightly'] },
    async (event) => {
      const key = await keep(storj.provider, Buffer.alloc(24 * MIB, 1))
      // More than is sent before the reader asks for it.
      storj.server.fail({ at: /^GET/, fault: { cutAnswerAt: 23 * MIB }, times: 1 })
      const stream = (await storj.provider.read(key))!
      await storj.provider.remove(key)
      if (event === 'is replaced') await keep(storj.provider, Buffer.alloc(24 * MIB, 2), key.id)
      await expect(buffer(stream)).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  it('times out when the store stops before or in the middle of an answer', { tags: ['nightly'] }, async () => {
    const key = await keep(storj.provider, randomBytes(3 * MIB))
    const quick = await storj.open({}, { idleMs: 200, answerMs: 200 })
    storj.server.fail({ at: /^GET/, fault: { stallAnswerAt: MIB }, times: 1 })
    await expect(fetchBytes(quick, key)).rejects.toMatchObject(UNAVAILABLE)
    storj.server.fail({ at: /./, fault: 'silence' })
    await expect(quick.read(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(quick.stat(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(quick.remove(key)).rejects.toMatchObject(UNAVAILABLE)
    expect(await quick.check()).toBe(false)
    await storj.server.stop()
    await expect(quick.read(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(quick.absent([key])).rejects.toMatchObject(UNAVAILABLE)
    expect(await quick.check()).toBe(false)
    await storj.restart()
    expect(await storj.provider.stat(key)).toEqual({ size: 3 * MIB })
  })

  it('times out when no connection is made, or the TLS handshake hangs', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo // a listening TCP server has one
    const quick = await storj.open({ endpoint: `https://127.0.0.1:${port}` }, { connectMs: 100 })
    silent.on('connection', (socket) => onTestFinished(() => void socket.destroy()))
    const key = { id: newId(), ref: null }
    await expect(quick.read(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(keep(quick, Buffer.alloc(3 * MIB))).rejects.toMatchObject(UNAVAILABLE)
    expect(await quick.check()).toBe(false)
    const plain = await storj.open({ endpoint: storj.server.url.replace('http:', 'https:') })
    await expect(plain.stat(key)).rejects.toMatchObject(UNAVAILABLE)
  })

  it('does not time out while a slow reader pauses', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(8 * MIB)
    const key = await keep(storj.provider, bytes)
    const quick = await storj.open({}, { idleMs: 1000 })
    const stream = (await quick.read(key))!
    const other = (await quick.read(key))!
    // A store that stops would time out meanwhile.
    storj.server.fail({ at: /^GET/, fault: { stallAnswerAt: MIB } })
    await expect(fetchBytes(quick, key)).rejects.toMatchObject(UNAVAILABLE)
    other.destroy()
    expect(sha256(await buffer(stream))).toBe(sha256(bytes))
  })

  it('tries again after temporary errors', async () => {
    const bytes = randomBytes(1000)
    const key = await keep(storj.provider, bytes)
    for (const fault of [{ status: 503, code: 'SlowDown' }, 'lost answer'] as const) {
      storj.server.fail({ at: /./, fault, times: 3 })
      expect(await storj.provider.stat(key)).toEqual({ size: 1000 })
      storj.server.fail({ at: /./, fault: { status: 500, code: 'InternalError' }, times: 3 })
      expect(await fetchBytes(storj.provider, key)).toEqual(bytes)
    }
    storj.server.fail({ at: /./, fault: { status: 500, code: 'InternalError' }, times: 4 })
    await expect(storj.provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
    expect(await storj.provider.stat(key)).toEqual({ size: 1000 })
  })

  it('T-31 distinguishes a missing object from rejected credentials and a missing bucket', async () => {
    const key = await keep(storj.provider, Buffer.from('here'))
    const { credentials } = storj.server
    for (const changed of [
      { secretAccessKey: 'wrong' },
      { accessKeyId: 'nobody' },
      { region: 'elsewhere' },
      { bucket: 'missing' },
    ]) {
      const other = await storj.open(changed)
      for (const asked of [key, { id: newId(), ref: null }]) {
        await expect(other.stat(asked)).rejects.toMatchObject(CLOSED)
        await expect(other.read(asked)).rejects.toMatchObject(CLOSED)
        await expect(other.absent([asked])).rejects.toMatchObject(CLOSED)
        await expect(other.remove(asked)).rejects.toMatchObject(CLOSED)
        await expect(keep(other, Buffer.from('new'), asked.id)).rejects.toMatchObject(CLOSED)
      }
      expect(await other.check()).toBe(false)
    }
    const failure = await (await storj.open({ secretAccessKey: 'wrong' })).read(key).catch((error) => error)
    expect(failure.message).toBe('the storage provider is closed')
    expect(failure.cause.message).toBe('the store answered 403 SignatureDoesNotMatch to GET')
    expect(JSON.stringify([failure, failure.cause.stack])).not.toContain(credentials.accessKeyId)
    expect(await fetchBytes(storj.provider, key)).toEqual(Buffer.from('here'))
  })

  it('T-31 is closed when our clock is wrong', async () => {
    const ahead = await openTestStorj({ now: () => Date.now() + 3_600_000 })
    await expect(ahead.provider.stat({ id: newId(), ref: null })).rejects.toMatchObject(CLOSED)
    await expect(keep(ahead.provider, Buffer.from('new'))).rejects.toMatchObject(CLOSED)
    expect(await ahead.provider.check()).toBe(false)
  })
})
