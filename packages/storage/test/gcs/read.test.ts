import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { forAllTests } from '@svc/devnet/for-tests'
import { startProcess } from '@svc/devnet/start-process'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { keep, newId } from '../objects.ts'
import { startTestGcs } from './start-gcs.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const MEDIA = /alt=media/
const bytes = randomBytes(5 * MIB)

const gcs = forAllTests(() => startTestGcs())
const key = forAllTests(() => keep(gcs.provider, bytes))
afterEach(() => gcs.server.recover())

describe('reading with the Google Cloud Storage driver while the store fails', () => {
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
    ['closed', 401, 'authError'],
    ['unavailable', 418, 'teapot'],
  ] as const)('reports the provider as %s when the answer is %i', async (reason, status, code) => {
    gcs.server.fail({ at: /\/storage\/v1/, fault: { status, reason: code } })
    const error = { name: 'ProviderError', reason, cause: { message: expect.stringContaining(`${status}`) } }
    await expect(gcs.provider.stat(key)).rejects.toMatchObject(error)
  })

  it('distinguishes a missing bucket from a missing object', async () => {
    const elsewhere = await gcs.open({ bucket: 'another' })
    const absent = { id: newId(), ref: null }
    for (const size of [10, 3 * MIB]) {
      await expect(keep(elsewhere, Buffer.alloc(size))).rejects.toMatchObject({ reason: 'closed' })
    }
    await expect(elsewhere.read(absent)).rejects.toMatchObject({ reason: 'closed' })
    await expect(elsewhere.stat(absent)).rejects.toMatchObject({ reason: 'closed' })
    await expect(elsewhere.absent([absent])).rejects.toMatchObject({ reason: 'closed' })
    await expect(elsewhere.remove(absent)).rejects.toMatchObject({ reason: 'closed' })
    expect(await elsewhere.check()).toBe(false)
    expect(await gcs.provider.check()).toBe(true)
  })
})

it('the Google Cloud Storage driver cancels a session that hangs, and leaves nothing of the object', {
  tags: ['nightly'],
}, async () => {
  const id = newId()
  gcs.server.fail({ at: /^PUT/, fault: 'silence' })
  // Long enough for the session to be cancelled.
  const provider = await gcs.open({}, { answerMs: 1000, idleMs: 1000, attempts: 1 })
  await expect(keep(provider, Buffer.alloc(9 * MIB), id)).rejects.toMatchObject(UNAVAILABLE)
  expect([gcs.server.openUploads(), await gcs.provider.stat({ id, ref: null })]).toEqual([0, null])
})

it('the Google Cloud Storage driver resumes a download that stalled', async () => {
  gcs.server.fail({ at: /alt=media/, times: 1, fault: { stallAnswerAt: 3 * MIB } })
  const provider = await gcs.open({}, { idleMs: 300 })
  expect((await buffer((await provider.read(key))!)).equals(bytes)).toBe(true)
})

it('the Google Cloud Storage driver does not time out while a slow reader pauses', { tags: ['nightly'] }, async () => {
  const provider = await gcs.open({}, { answerMs: 700, idleMs: 700, attempts: 2 })
  const pieces = (await provider.read(key))!.iterator()
  const read = [(await pieces.next()).value]
  // Meanwhile a request with the same timeout has failed twice.
  gcs.server.fail({ at: /fields=size/, fault: 'silence' })
  await expect(provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
  expect(gcs.server.requests.filter((line) => line.includes('alt=media')).at(-1)).not.toContain('ifGenerationMatch')
  for await (const piece of pieces) read.push(piece)
  expect(Buffer.concat(read).equals(bytes)).toBe(true)
})

// A listener that accepts no connections: the kernel queues a few, and makes the others wait.
const BUSY = `
  require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    require('node:fs').writeSync(1, this.address().port + '\\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

it('the Google Cloud Storage driver times out when no connection is made', { tags: ['nightly'] }, async () => {
  const [port] = await startProcess(process.execPath, { args: ['-e', BUSY] }).waitForLine(/^\d+$/)
  const sockets = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  const provider = await gcs.open({ endpoint: `http://127.0.0.1:${port}` }, { connectMs: 1500, attempts: 1 })
  const wait = provider.stat(key)
  await expect(wait).rejects.toMatchObject({
    ...UNAVAILABLE,
    cause: { message: 'the provider did not respond for 1500 ms' },
  })
})
