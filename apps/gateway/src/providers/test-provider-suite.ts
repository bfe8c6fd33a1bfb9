// What every driver promises, shown on the driver itself. Suites of drivers add what only they do.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { StorageProvider } from './provider.ts'
import { fetchBytes, keep, newId, streamOf } from './test-objects.ts'

const MIB = 1024 * 1024

interface OpenedProvider {
  provider: StorageProvider
  close(): Promise<void>
}

export function describeProvider(name: string, open: () => Promise<OpenedProvider>): void {
  describe(`${name}, a storage provider`, () => {
    let opened: OpenedProvider
    let provider: StorageProvider
    beforeAll(async () => {
      opened = await open()
      provider = opened.provider
    })
    afterAll(() => opened.close())

    /** Tries to write; whatever came of it, the id must still be free. */
    async function expectNothingLeft(source: Readable, size: number | null, complaint: unknown) {
      const id = newId()
      await expect(provider.write(id, source, { contentType: 'text/plain', size })).rejects.toThrow(complaint as Error)
      expect(await provider.stat({ id, ref: null })).toBeNull()
      expect(await provider.read({ id, ref: null })).toBeNull()
      const whole = Buffer.from('the second try')
      expect(await fetchBytes(provider, await keep(provider, whole, id))).toEqual(whole)
    }

    it('is ready', async () => {
      expect(await provider.check()).toBe(true)
    })

    it.each([0, 1, 65_536, MIB - 1, MIB, MIB + 1, 5 * MIB + 12_345])(
      'gives back %i bytes as they came',
      async (size) => {
        const bytes = randomBytes(size)
        for (const declared of [size, null]) {
          const id = newId()
          const stored = await provider.write(id, streamOf(bytes), { contentType: 'text/plain', size: declared })
          expect(stored.size).toBe(size)
          const key = { id, ref: stored.ref }
          expect(await provider.stat(key)).toEqual({ size })
          expect(sha256((await fetchBytes(provider, key))!)).toBe(sha256(bytes))
        }
      },
    )

    it('takes bytes in pieces of any length, however slowly they come', async () => {
      const bytes = randomBytes(3000)
      async function* slowly() {
        for await (const piece of streamOf(bytes, 1)) {
          await setImmediate()
          yield piece
        }
      }
      for (const source of [streamOf(bytes, 1), streamOf(bytes, bytes.length), Readable.from(slowly())]) {
        const id = newId()
        const { ref } = await provider.write(id, source, { contentType: 'text/plain', size: null })
        expect(await fetchBytes(provider, { id, ref })).toEqual(bytes)
      }
    })

    it('gives any range of an object', async () => {
      const bytes = randomBytes(3 * MIB + 7)
      const key = await keep(provider, bytes)
      const last = bytes.length - 1
      const borders = [0, 65_535, 65_536, MIB - 1, MIB, 2 * MIB + 1, last]
      const ranges = borders.flatMap((start) => borders.filter((end) => end >= start).map((end) => ({ start, end })))
      for (const { start, end } of ranges) {
        const part = await fetchBytes(provider, key, { start, end })
        expect([start, end, sha256(part!)]).toEqual([start, end, sha256(bytes.subarray(start, end + 1))])
      }
    })

    it('knows nothing of an object that was never written', async () => {
      const key = { id: newId(), ref: null }
      expect(await provider.stat(key)).toBeNull()
      expect(await provider.read(key)).toBeNull()
      expect(await provider.read(key, { start: 0, end: 0 })).toBeNull()
      expect(await provider.remove(key)).toBeOneOf(['removed', 'immutable'])
    })

    it('removes an object for good, or says that nobody can', async () => {
      const key = await keep(provider, randomBytes(1000))
      for (const _ of ['once', 'twice']) {
        const outcome = await provider.remove(key)
        expect(outcome).toBeOneOf(['removed', 'immutable'])
        expect((await provider.stat(key)) === null).toBe(outcome === 'removed')
        expect((await fetchBytes(provider, key)) === null).toBe(outcome === 'removed')
      }
    })

    it.each([1, 2000])('tells of %i objects which are absent', async (count) => {
      const there = await keep(provider, Buffer.from('there'))
      const never = Array.from({ length: count }, () => ({ id: newId(), ref: null }))
      const gone = await keep(provider, Buffer.from('gone'))
      const outcome = await provider.remove(gone)
      const missing = [...never, ...(outcome === 'removed' ? [gone] : [])].map(({ id }) => id)
      expect(await provider.absent([there, ...never, gone, there])).toEqual(new Set(missing))
      expect(await provider.absent([there])).toEqual(new Set())
      expect(await provider.absent([])).toEqual(new Set())
    })

    it('keeps objects apart whose ids are alike', async () => {
      const id = newId()
      const twin = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
      const key = await keep(provider, Buffer.from('one'), id)
      const twinKey = await keep(provider, Buffer.from('the other'), twin)
      await provider.remove(key)
      expect(await fetchBytes(provider, twinKey)).toEqual(Buffer.from('the other'))
    })

    it('does not change an object when its id is written again', async () => {
      const first = Buffer.from('the first bytes')
      const key = await keep(provider, first)
      await keep(provider, Buffer.from('other bytes!!!!'), key.id).catch(() => {})
      expect(await fetchBytes(provider, key)).toEqual(first)
    })

    it('leaves nothing of a source that fails, and throws its error as it came', async () => {
      const complaint = Object.assign(new Error('no more'), { code: 'ENOSPC', syscall: 'read' })
      async function* failing(length: number) {
        yield randomBytes(length)
        throw complaint
      }
      for (const length of [1, 5 * MIB]) {
        const source = Readable.from(failing(length), { objectMode: false })
        const id = newId()
        const failure = provider.write(id, source, { contentType: 'text/plain', size: null }).catch((error) => error)
        expect(await failure).toBe(complaint)
        await expectNothingLeft(Readable.from(failing(length), { objectMode: false }), 10 * MIB, complaint)
      }
    })

    it('hears a source that failed before it was read', async () => {
      const complaint = new Error('no more')
      const failed = streamOf(randomBytes(MIB)).on('error', () => {})
      failed.destroy(complaint)
      await expectNothingLeft(failed, null, complaint)

      const failsAtOnce = streamOf(randomBytes(MIB))
      const id = newId()
      const failure = provider.write(id, failsAtOnce, { contentType: 'text/plain', size: MIB }).catch((error) => error)
      failsAtOnce.destroy(complaint)
      expect(await failure).toBe(complaint)
      expect(await provider.stat({ id, ref: null })).toBeNull()
    })

    it('leaves nothing of a source that is destroyed, before or while it is read', async () => {
      const destroyed = streamOf(randomBytes(MIB))
      destroyed.destroy()
      await expectNothingLeft(destroyed, MIB, /premature/i)

      const halfWay = new Readable({ read() {} })
      halfWay.push(randomBytes(2 * MIB))
      halfWay.once('resume', () => halfWay.once('data', () => halfWay.destroy()))
      await expectNothingLeft(halfWay, null, /premature/i)
    })

    it('leaves nothing of a request whose client goes away', async () => {
      const id = newId()
      const outcome = Promise.withResolvers<unknown>()
      const server = createServer((incoming) => {
        const about = { contentType: 'text/plain', size: Number(incoming.headers['content-length']) }
        provider.write(id, incoming, about).then(outcome.resolve, outcome.resolve)
        incoming.once('data', () => client.destroy())
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo // a listening TCP server has one
      const client = request({ port, method: 'PUT', headers: { 'content-length': 10 * MIB } })
      client.on('error', () => {})
      client.write(randomBytes(2 * MIB))
      expect(await outcome.promise).toMatchObject({ code: 'ECONNRESET' })
      expect(await provider.stat({ id, ref: null })).toBeNull()
    })

    it.each([
      ['fewer', 2 * MIB + 1],
      ['far fewer', 100 * MIB],
      ['more', 2 * MIB - 1],
      ['far more', 0],
    ])('leaves nothing of a source that gives %s bytes than declared', async (_, declared) => {
      await expectNothingLeft(streamOf(randomBytes(2 * MIB)), declared, RangeError)
    })

    it('serves many at once', async () => {
      const objects = Array.from({ length: 40 }, (_, i) => randomBytes(i % 4 === 0 ? MIB + i : 100 * i))
      const keys = await Promise.all(objects.map((bytes) => keep(provider, bytes)))
      const reads = [...keys, ...keys].map((key) => fetchBytes(provider, key))
      const hashes = (await Promise.all(reads)).map((bytes) => sha256(bytes!))
      expect(hashes).toEqual([...objects, ...objects].map(sha256))
      await Promise.all(keys.map((key) => provider.remove(key)))
    })

    it('T-11 reads little ahead of a slow reader', async () => {
      const bytes = randomBytes(64 * MIB)
      const key = await keep(provider, bytes)
      const before = heldBytes()
      const slow = (await provider.read(key))!
      const pieces = slow.iterator()
      const hash = createHash('sha256').update((await pieces.next()).value)
      // Whoever reads ahead without end has had the time for it when another has read all.
      const hashOfOther = createHash('sha256')
      for await (const piece of (await provider.read(key))!) hashOfOther.update(piece)
      expect(heldBytes() - before).toBeLessThan(16 * MIB)
      for await (const piece of pieces) hash.update(piece)
      expect([hash.digest('hex'), hashOfOther.digest('hex')]).toEqual([sha256(bytes), sha256(bytes)])
      await provider.remove(key)
    })

    it('T-11 takes no more from a fast source than it can write', async () => {
      const before = heldBytes()
      let most = 0
      let next = 0
      const source = new Readable({
        read() {
          if (next % 8 === 0) most = Math.max(most, heldBytes() - before)
          this.push(next < 64 ? Buffer.alloc(MIB, next++) : null)
        },
      })
      const id = newId()
      const { size, ref } = await provider.write(id, source, { contentType: 'text/plain', size: null })
      expect(size).toBe(64 * MIB)
      expect(most).toBeLessThan(24 * MIB)
      await provider.remove({ id, ref })
    })

    it('lets go of an object when its reader does', async () => {
      const key = await keep(provider, randomBytes(5 * MIB))
      const stream = (await provider.read(key))!
      await once(stream, 'readable')
      stream.destroy()
      await once(stream, 'close')
      expect(stream.errored).toBeNull()
      expect(sha256((await fetchBytes(provider, key))!)).toHaveLength(64)
    })
  })
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Bytes in buffers that somebody still holds. */
function heldBytes(): number {
  collectGarbage()
  collectGarbage() // ends what the first left to its threads
  return process.memoryUsage().arrayBuffers
}
