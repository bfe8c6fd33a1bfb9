// The suite of the provider interface, which every driver runs. Other tests of a driver cover what only it does.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StorageProvider } from '../src/provider.ts'
import { fetchBytes, keep, newId, streamOf } from './objects.ts'
import { itLimitsMemory } from './provider-memory.ts'
import { describeParts } from './provider-parts.ts'
import { describeSources } from './provider-sources.ts'

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
    it.each([65_536, MIB - 1, MIB, 5 * MIB + 12_345])(
      'returns %i bytes unchanged',
      { tags: ['nightly'] },
      returnsUnchanged,
    )

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

    it('T-31 is unavailable when a range goes past the end, since the object was longer before', async () => {
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

    it('keeps objects with similar ids separate', async () => {
      const id = newId()
      const twin = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
      const key = await keep(provider, Buffer.from('one'), id)
      const twinKey = await keep(provider, Buffer.from('the other'), twin)
      await provider.remove(key)
      expect(await fetchBytes(provider, twinKey)).toEqual(Buffer.from('the other'))
    })

    it('does not replace an object when its id is written again', async () => {
      const first = Buffer.from('the first bytes')
      const key = await keep(provider, first)
      const again = keep(provider, Buffer.from('other bytes!!!!'), key.id)
      if (key.ref === null) await expect(again).rejects.toThrow('there is an object with this id')
      // What was delivered is known by its ref.
      else expect((await again).ref).not.toBe(key.ref)
      expect(await fetchBytes(provider, key)).toEqual(first)
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

    describeSources(() => provider)
    describeParts(() => provider)
    itLimitsMemory(() => provider)
  })
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
