import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { forEachTest } from '@svc/devnet/for-tests'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchBytes, keep, newId } from '../objects.ts'
import { openTestBucket, startTestBucket } from './start-bucket.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const CLOSED = { name: 'ProviderError', reason: 'closed' }

describe('reading with the S3 bucket driver', () => {
  const storj = forEachTest(() => startTestBucket())

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

  it('T-139 distinguishes a missing object from rejected credentials and a missing bucket', async () => {
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
    expect(failure.cause.message).toBe('Storj answered 403 SignatureDoesNotMatch to GET')
    expect(JSON.stringify([failure, failure.cause.stack])).not.toContain(credentials.accessKeyId)
    expect(await fetchBytes(storj.provider, key)).toEqual(Buffer.from('here'))
  })

  it('T-139 is closed when our clock is wrong', async () => {
    const ahead = await openTestBucket({ now: () => Date.now() + 3_600_000 })
    await expect(ahead.provider.stat({ id: newId(), ref: null })).rejects.toMatchObject(CLOSED)
    await expect(keep(ahead.provider, Buffer.from('new'))).rejects.toMatchObject(CLOSED)
    expect(await ahead.provider.check()).toBe(false)
  })
})
