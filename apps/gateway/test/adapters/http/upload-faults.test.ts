import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { freePort } from '@svc/devnet/free-port'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it } from 'vitest'
import { createFile, errorOf, leftovers, put, rawUpload, rowOf } from './transfers.ts'

const MEBIBYTE = 1_048_576
const TYPE = 'Content-Type: text/plain'

const instance = forAllTests(openTestGateway)
const locker = forEachTest(() => instance.locker(ed25519Identity()))
const urls = forEachTest(() => createFile(instance, locker, 'a.txt'))

/** Waits until this many bytes of the running upload are on disk. */
async function uploadReaches(bytes: number): Promise<void> {
  await expect
    .poll(async () => {
      const { incoming } = await leftovers(instance.gateway)
      const { localFolder } = instance.gateway.context.config.storage
      const sizes = incoming.map(async (name) => (await stat(join(localFolder, 'incoming', name))).size)
      return (await Promise.all(sizes)).some((size) => size >= bytes)
    })
    .toBe(true)
}

const chunk = (size: number) => `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`

it.each<[string, string[], string, (socket: Socket) => void]>([
  ['with a reset', ['Content-Length: 4000000'], 'a'.repeat(2_000_000), (socket) => socket.resetAndDestroy()],
  ['before its declared length', ['Content-Length: 4000000'], 'a'.repeat(2_000_000), (socket) => socket.end()],
  ['without its last chunk', ['Transfer-Encoding: chunked'], chunk(2_000_000), (socket) => socket.end()],
  ['in a broken chunk', ['Transfer-Encoding: chunked'], chunk(2_000_000), (socket) => socket.write('zz\r\n')],
])('T-11 AMB-24 an upload that breaks off %s changes nothing', async (_, headers, bytes, breakOff) => {
  await locker.put('a.txt', 'hello')
  const [row, before] = [await rowOf(instance, locker, 'a.txt'), await leftovers(instance.gateway)]
  const socket = rawUpload(urls.upload, [TYPE, ...headers], bytes)
  await uploadReaches(MEBIBYTE)
  expect((await leftovers(instance.gateway)).writing).toHaveLength(1)
  breakOff(socket)
  await expect.poll(() => leftovers(instance.gateway)).toEqual(before)
  expect(await rowOf(instance, locker, 'a.txt')).toEqual(row)
  expect(await (await fetch(urls.download)).text()).toBe('hello')
})

it('T-11 many uploads that break off right after their headers leave nothing', async () => {
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const socket = rawUpload(urls.upload, [TYPE, 'Content-Length: 4000000'], 'a'.repeat(i * 10_000))
      await once(socket, 'connect')
      socket.resetAndDestroy()
    }),
  )
  await expect.poll(async () => (await leftovers(instance.gateway)).writing).toEqual([])
  await expect.poll(async () => (await leftovers(instance.gateway)).incoming).toEqual([])
  expect(await errorOf(await fetch(urls.download))).toEqual([404, 'CONTENT_NOT_FOUND'])
  expect((await put(urls.upload, 'fine')).status).toBe(200)
})

it('T-11 bytes after the declared length are read as a malformed next request', async () => {
  const socket = rawUpload(urls.upload, [TYPE, 'Content-Length: 5'], 'hello and more\r\n\r\n')
  let answers = ''
  for await (const data of socket) answers += data
  expect(answers).toContain('"malformed_request"')
  await expect.poll(async () => (await leftovers(instance.gateway)).writing).toEqual([])
  const stored = await fetch(urls.download)
  expect(['hello', expect.stringContaining('CONTENT_NOT_FOUND')]).toContainEqual(await stored.text())
})

it('SHORT-08 an upload to a file that is deleted meanwhile answers 404 and leaves nothing', async () => {
  const before = await leftovers(instance.gateway)
  const socket = rawUpload(urls.upload, [TYPE, 'Content-Length: 3000000'], 'a'.repeat(2_000_000))
  await uploadReaches(MEBIBYTE)
  expect((await fetch(urls.remove, { method: 'DELETE' })).status).toBe(200)
  socket.write('a'.repeat(1_000_000))
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 404 .*"FILE_NOT_FOUND".*"recovery_hint"/s)
  expect(await leftovers(instance.gateway)).toEqual(before)
  await expect(rowOf(instance, locker, 'a.txt')).rejects.toThrow()
})

// A limit on the size of files makes the kernel fail writes as on a full disk.
it('GEN-11 T-139 a full disk answers 503 without storage details, leaves nothing, and smaller files still fit', {
  tags: ['nightly'],
}, async () => {
  const { config } = instance.gateway.context
  const port = String(await freePort())
  const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
  const gateway = startProcess('sh', {
    args: ['-c', 'ulimit -f 16384 && exec "$0" "$1"', process.execPath, main],
    env: {
      SVC_MODE: 'development',
      HOST: '127.0.0.1',
      PORT: port,
      DATA_DIR: config.dataDir,
      STORAGE_DIR: config.storage.localFolder,
      RUN_JOBS: 'false',
    },
  })
  await gateway.waitForLine(/gateway started/)

  instance.clock.advance(Math.ceil((Date.now() - instance.clock.now()) / 1000))
  const { upload, download } = await createFile(instance, locker, 'large.bin', { ttl_min: 1440 })
  const limited = `http://127.0.0.1:${port}${new URL(upload).pathname}`
  const before = await leftovers(instance.gateway)
  const refused = await put(limited, new Uint8Array(20 * MEBIBYTE))
  const body = await refused.text()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
  expect(JSON.parse(body)).toMatchObject({
    error: 'STORAGE_UNAVAILABLE',
    details: { layer: 'provider', recovery_hint: expect.any(String), next_best_method: expect.any(String) },
  })
  expect(body).not.toMatch(/EFBIG|ENOSPC|gcs|\blocal\b|incoming|tmp/)
  expect(await leftovers(instance.gateway)).toEqual(before)
  expect((await put(limited, 'small')).status).toBe(200)
  expect(await (await fetch(download)).text()).toBe('small')
})
