import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { ObjectKey, StorageProvider } from '../../src/provider.ts'
import { keep, newId } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const bytes = randomBytes(5 * MIB)

let gcs: TestGcs
let key: ObjectKey
/** Waits for no time to speak of. */
let hasty: StorageProvider
beforeAll(async () => {
  gcs = await startTestGcs()
  key = await keep(gcs.provider, bytes)
  hasty = await gcs.open({}, { idleMs: 100, attempts: 2 })
})
afterAll(() => gcs.close())
afterEach(() => gcs.server.recover())

it('ends the wait for an answer that does not come', async () => {
  gcs.server.fail({ at: /\/v1\/b\//, mishap: 'silence' })
  await expect(hasty.stat(key)).rejects.toMatchObject(UNAVAILABLE)
  await expect(hasty.read(key)).rejects.toMatchObject(UNAVAILABLE)
  await expect(hasty.absent([key])).rejects.toMatchObject(UNAVAILABLE)
  await expect(hasty.remove(key)).rejects.toMatchObject(UNAVAILABLE)
  for (const size of [10, 3 * MIB]) await expect(keep(hasty, Buffer.alloc(size))).rejects.toMatchObject(UNAVAILABLE)
  expect(await hasty.check()).toBe(false)
})

it('ends the wait for the rest of an answer', async () => {
  gcs.server.fail({ at: /fields=size/, mishap: { stallAnswerAt: 10 } })
  await expect(hasty.stat(key)).rejects.toMatchObject(UNAVAILABLE)
  gcs.server.fail({ at: /alt=media/, mishap: { stallAnswerAt: 1000 } })
  await expect(hasty.read(key).then((stream) => buffer(stream!))).rejects.toMatchObject(UNAVAILABLE)
})

it('ends the wait for the rest of a session, and leaves nothing of it', async () => {
  const id = newId()
  gcs.server.fail({ at: /^PUT/, mishap: 'silence' })
  // Long enough for the session to be cancelled.
  const provider = await gcs.open({}, { idleMs: 1000, attempts: 1 })
  await expect(keep(provider, Buffer.alloc(9 * MIB), id)).rejects.toMatchObject(UNAVAILABLE)
  expect([gcs.server.openUploads(), await gcs.provider.stat({ id, ref: null })]).toEqual([0, null])
})

it('goes on after a wait that had an end', async () => {
  gcs.server.fail({ at: /alt=media/, times: 1, mishap: { stallAnswerAt: 3 * MIB } })
  const patient = await gcs.open({}, { idleMs: 300 })
  expect((await buffer((await patient.read(key))!)).equals(bytes)).toBe(true)
})

it('does not take a reader who takes his time for a store that hangs', async () => {
  const patience = { idleMs: 700, attempts: 2 }
  const provider = await gcs.open({}, patience)
  const pieces = (await provider.read(key))!.iterator()
  const read = [(await pieces.next()).value]
  // Who waits as long for the store has given up twice meanwhile.
  gcs.server.fail({ at: /fields=size/, mishap: 'silence' })
  await expect(provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
  expect(gcs.server.requests.filter((line) => line.includes('alt=media')).at(-1)).not.toContain('ifGenerationMatch')
  for await (const piece of pieces) read.push(piece)
  expect(Buffer.concat(read).equals(bytes)).toBe(true)
})

// A listener that takes no connections: the kernel keeps as many for it as it was told to, and lets the others wait.
const BUSY = `
  require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    require('node:fs').writeSync(1, String(this.address().port))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

it('ends the wait for a connection', async () => {
  const listener = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void listener.kill('SIGKILL'))
  const [printed] = await once(listener.stdout, 'data')
  const sockets = Array.from({ length: 8 }, () => connect(Number(printed), '127.0.0.1').on('error', () => {}))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  const impatient = await gcs.open({ endpoint: `http://127.0.0.1:${printed}` }, { connectMs: 1500, attempts: 1 })
  const wait = impatient.stat(key)
  await expect(wait).rejects.toMatchObject({ ...UNAVAILABLE, cause: { message: 'no sign of life from the store' } })
})
