// The suite of the provider interface, which every driver runs. A driver's other tests cover its special features.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectKey, StorageProvider } from '../src/provider.ts'
import { answeredFailure } from './failures.ts'
import { fetchBytes, keep, newId, streamOf } from './objects.ts'
import { itLimitsMemory } from './provider-memory.ts'
import { describeParts } from './provider-parts.ts'
import { describeSources } from './provider-sources.ts'

const MIB = 1024 * 1024

export interface OpenedProvider {
  provider: StorageProvider
  close(): Promise<void>
}

/** For a staged provider, the tests of its staging folder are skipped: the local driver runs them. */
export function describeProvider(
  name: string,
  open: () => Promise<OpenedProvider>,
  { isStaged = false }: { isStaged?: boolean } = {},
): void {
  describe(`${name}, a storage provider`, () => {
    let opened: OpenedProvider
    let provider: StorageProvider
    beforeAll(async () => {
      opened = await open()
      provider = opened.provider
    })
    afterAll(() => opened.close())

    it('is healthy', async () => {
      expect(await provider.check()).toBe(true)
    })

    async function returnsUnchanged(size: number): Promise<void> {
      const bytes = randomBytes(size)
      for (const declared of [size, null]) {
        const id = newId()
        const stored = await provider.write(id, streamOf(bytes), { contentType: 'text/plain', size: declared })
        expect(stored.size).toBe(size)
        const key = { id, ref: stored.ref }
        expect(await provider.stat(key)).toEqual({ size })
        expect(sha256((await fetchBytes(provider, key))!)).toBe(sha256(bytes))
      }
    }
    it.each([0, 1, MIB + 1])('returns %i bytes unchanged', returnsUnchanged)
    it.each([MIB, 5 * MIB + 12_345])('returns %i bytes unchanged', { tags: ['nightly'] }, returnsUnchanged)

    it('accepts bytes in pieces of any length, at any speed', async () => {
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

    it('returns any range of an object', { tags: ['nightly'] }, async () => {
      const bytes = randomBytes(2 * MIB + 7)
      const key = await keep(provider, bytes)
      const last = bytes.length - 1
      const borders = [0, 65_535, MIB - 1, MIB, last]
      const ranges = borders.flatMap((start) => borders.filter((end) => end >= start).map((end) => ({ start, end })))
      for (const { start, end } of ranges) {
        const part = await fetchBytes(provider, key, { start, end })
        expect([start, end, sha256(part!)]).toEqual([start, end, sha256(bytes.subarray(start, end + 1))])
      }
    })

    it('T-139 is unavailable when a range goes past the end, since the object was longer before', async () => {
      const key = await keep(provider, Buffer.alloc(10))
      const empty = await keep(provider, Buffer.alloc(0))
      for (const [of, start, end] of [
        [key, 0, 10],
        [key, 10, 10],
        [empty, 0, 0],
      ] as const) {
        const error = { name: 'ProviderError', reason: 'unavailable' }
        await expect(provider.read(of, { start, end })).rejects.toMatchObject(error)
      }
      for (const [start, end] of [
        [5, 4],
        [-1, 5],
        [0, Number.NaN],
      ] as const) {
        await expect(provider.read(key, { start, end })).rejects.toThrow(RangeError)
      }
    })

    it('returns null for an object that was never written', async () => {
      const key = { id: newId(), ref: null }
      expect(await provider.stat(key)).toBeNull()
      expect(await provider.read(key)).toBeNull()
      expect(await provider.read(key, { start: 0, end: 0 })).toBeNull()
      expect(await provider.remove(key)).toBeOneOf(['removed', 'immutable'])
    })

    it('removes an object permanently, or reports it as immutable', async () => {
      const key = await keep(provider, randomBytes(1000))
      for (const _ of ['once', 'twice']) {
        const outcome = await provider.remove(key)
        expect(outcome).toBeOneOf(['removed', 'immutable'])
        expect((await provider.stat(key)) === null).toBe(outcome === 'removed')
        expect((await fetchBytes(provider, key)) === null).toBe(outcome === 'removed')
      }
    })

    async function findsAbsent(count: number): Promise<void> {
      const there = await keep(provider, Buffer.from('there'))
      const never = Array.from({ length: count }, () => ({ id: newId(), ref: null }))
      const gone = await keep(provider, Buffer.from('gone'))
      const outcome = await provider.remove(gone)
      const missing = [...never, ...(outcome === 'removed' ? [gone] : [])].map(({ id }) => id)
      expect(await provider.absent([there, ...never, gone, there])).toEqual(new Set(missing))
      expect(await provider.absent([there])).toEqual(new Set())
      expect(await provider.absent([])).toEqual(new Set())
    }
    it('finds the absent ones of 1 object', () => findsAbsent(1))
    it('finds the absent ones of 600 objects', { tags: ['nightly'] }, () => findsAbsent(600))

    it('T-05 rejects an invalid id, which never becomes a path, name or address', async () => {
      const [a, short] = ['a'.repeat(32), 'a'.repeat(29)]
      const paths = ['', '.', '..', '../../../../etc/passwd', `ab/${short}`, `../${short}`, `..\\${short}`, `${a}/`]
      const nearly = [a.slice(1), `${a}a`, a.toUpperCase(), 'g'.repeat(32), `${a}\n`, `${a}\0`, `${a}?acl`]
      for (const id of [...paths, ...nearly]) {
        const key = { id, ref: null }
        await expect(keep(provider, Buffer.alloc(10), id)).rejects.toThrow(RangeError)
        await expect(provider.read(key)).rejects.toThrow(RangeError)
        await expect(provider.stat(key)).rejects.toThrow(RangeError)
        for (const keys of [[key], Array(2000).fill(key)])
          await expect(provider.absent(keys)).rejects.toThrow(RangeError)
        await expect(provider.remove(key)).rejects.toThrow(RangeError)
      }
    })

    it('redirects clients only when that is configured', async () => {
      const terms = { contentType: 'text/plain', expiresInSeconds: 60, size: 5, maxBytes: 100 }
      expect(await provider.uploadTarget(newId(), terms)).toBeNull()
      expect(await provider.downloadTarget({ id: newId(), ref: 'ref' }, terms)).toBeNull()
    })

    it('keeps objects with similar ids separate', async () => {
      const id = newId()
      const twin = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
      const key = await keep(provider, Buffer.from('one'), id)
      const twinKey = await keep(provider, Buffer.from('the other'), twin)
      await provider.remove(key)
      expect(await fetchBytes(provider, twinKey)).toEqual(Buffer.from('the other'))
    })

    it('does not replace an object when its id is written again, and leaves that source usable', async () => {
      const first = Buffer.from('the first bytes')
      const key = await keep(provider, first)
      const failure = await answeredFailure(provider, key.id, Buffer.alloc(3 * MIB))
      // A delivered object is known by its ref, and written again beside the first.
      if (key.ref === null) expect(failure).toBe('Error: an object with this id already exists')
      else expect(failure).not.toContain('Error')
      expect(await fetchBytes(provider, key)).toEqual(first)
    })

    it('lets one of several concurrent writers of the same id win', async () => {
      const id = newId()
      const bytesOf = (i: number) => Buffer.alloc(MIB + 1, i)
      const outcomes = await Promise.allSettled([0, 1, 2, 3].map((i) => keep(provider, bytesOf(i), id)))
      const winners = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [[i, outcome.value]] : []))
      expect(winners.length).toBeGreaterThan(0)
      // Two objects with the same key would return the bytes of one.
      for (const [i, key] of winners as [number, ObjectKey][]) {
        expect((await fetchBytes(provider, key))!.equals(bytesOf(i))).toBe(true)
      }
      const losers = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? `${outcome.reason}` : []))
      for (const failure of losers) expect(failure).toBe('Error: an object with this id already exists')
    })

    it('shows an object only when it is complete', async () => {
      const key = { id: newId(), ref: null }
      const [reached, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      async function* pieces() {
        yield randomBytes(3 * MIB)
        yield randomBytes(1)
        reached.resolve()
        await finish.promise
      }
      const source = Readable.from(pieces(), { objectMode: false })
      const written = provider.write(key.id, source, { contentType: 'text/plain', size: null })
      await reached.promise
      expect([await provider.stat(key), await provider.read(key)]).toEqual([null, null])
      expect(await provider.absent([key])).toEqual(new Set([key.id]))
      finish.resolve()
      const { size, ref } = await written
      expect([size, await provider.stat({ ...key, ref })]).toEqual([3 * MIB + 1, { size: 3 * MIB + 1 }])
    })

    it('serves many requests at once', { tags: ['nightly'] }, async () => {
      const objects = Array.from({ length: 24 }, (_, i) => randomBytes(i % 6 === 0 ? MIB + i : 100 * i))
      const keys = await Promise.all(objects.map((bytes) => keep(provider, bytes)))
      const reads = [...keys, ...keys].map((key) => fetchBytes(provider, key))
      const hashes = (await Promise.all(reads)).map((bytes) => sha256(bytes!))
      expect(hashes).toEqual([...objects, ...objects].map(sha256))
      await Promise.all(keys.map((key) => provider.remove(key)))
    })

    it('closes an object when its reader stops', async () => {
      const key = await keep(provider, randomBytes(2 * MIB))
      const stream = (await provider.read(key))!
      await once(stream, 'readable')
      stream.destroy()
      await once(stream, 'close')
      expect(stream.errored).toBeNull()
      expect(sha256((await fetchBytes(provider, key))!)).toHaveLength(64)
    })

    if (!isStaged) describeSources(() => provider)
    if (!isStaged) describeParts(() => provider)
    itLimitsMemory(() => provider)
  })
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
