// Part of the suite of all drivers: objects that are written in parts.

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { PartsUpload, StorageProvider, WrittenPart } from '../src/provider.ts'
import { fetchBytes, newId, streamOf } from './objects.ts'

/** The smallest that every provider accepts. */
const PART = 5 * 1024 * 1024

export function describeParts(opened: () => StorageProvider): void {
  async function begin(): Promise<PartsUpload> {
    const id = newId()
    const ref = await opened().parts.begin(id, { contentType: 'image/png', partBytes: PART })
    return { id, ref, contentType: 'image/png' }
  }

  async function write(upload: PartsUpload, index: number, bytes: Uint8Array, isLast = false) {
    const part = { index, size: bytes.length, isLast, maxBytes: 10 * PART }
    const ref = await opened().parts.write(upload, part, streamOf(bytes))
    return ref === null ? null : { index, size: bytes.length, ref }
  }

  const keyOf = ({ id }: PartsUpload) => ({ id, ref: null })
  const inOrder = (parts: (WrittenPart | null)[]) => parts.map((part) => part!).sort((a, b) => a.index - b.index)

  describe('makes an object of its parts', () => {
    it('SESS-02 when they come in any order and at the same time, and the last one is shorter', {
      tags: ['nightly'],
    }, async () => {
      const { parts, stat } = opened()
      const bytes = randomBytes(2 * PART + 1234)
      const upload = await begin()
      expect(parts.accepts(PART)).toBe(true)
      const last = await write(upload, 2, bytes.subarray(2 * PART), true)
      expect(await stat(keyOf(upload))).toBeNull()
      const others = await Promise.all([1, 0].map((i) => write(upload, i, bytes.subarray(i * PART, (i + 1) * PART))))
      const written = inOrder([last, ...others])
      for (const _ of ['once', 'twice']) {
        const completed = await parts.complete(upload, written)
        expect(completed).toEqual({ size: bytes.length, ref: null, isExact: true, starts: [0, PART, 2 * PART] })
      }
      expect((await fetchBytes(opened(), keyOf(upload)))!.equals(bytes)).toBe(true)
      const second = { start: PART, end: 2 * PART - 1 }
      expect((await fetchBytes(opened(), keyOf(upload), second))!.equals(bytes.subarray(PART, 2 * PART))).toBe(true)
      expect(await opened().remove(keyOf(upload))).toBe('removed')
      expect(await stat(keyOf(upload))).toBeNull()
    })

    it('SESS-02 when one of them failed at first', async () => {
      const bytes = randomBytes(PART + 10)
      const upload = await begin()
      const failure = new Error('no more')
      async function* failing() {
        yield bytes.subarray(0, 1_000_000)
        throw failure
      }
      const source = Readable.from(failing(), { objectMode: false })
      const write0 = opened().parts.write(upload, { index: 0, size: PART, isLast: false, maxBytes: 10 * PART }, source)
      expect(await write0.catch((error) => error)).toBe(failure)
      const short = opened().parts.write(
        upload,
        { index: 0, size: PART, isLast: false, maxBytes: 10 * PART },
        streamOf(Buffer.alloc(10)),
      )
      await expect(short).rejects.toThrow(RangeError)
      const first = await write(upload, 0, bytes.subarray(0, PART))
      const last = await write(upload, 1, bytes.subarray(PART), true)
      expect(await opened().parts.complete(upload, inOrder([first, last]))).toMatchObject({ isExact: true })
      expect((await fetchBytes(opened(), keyOf(upload)))!.equals(bytes)).toBe(true)
    })

    it('SESS-02 when one of them is written twice, with the bytes of the named write', {
      tags: ['nightly'],
    }, async () => {
      const [old, new_] = [randomBytes(PART), randomBytes(PART)]
      const upload = await begin()
      const first = await write(upload, 0, old)
      const second = await write(upload, 0, new_)
      const named = second ?? first!
      expect(await opened().parts.complete(upload, [named])).toMatchObject({ isExact: true, size: PART })
      expect((await fetchBytes(opened(), keyOf(upload)))!.equals(second ? new_ : old)).toBe(true)
    })
  })

  it('SESS-02 reports where the parts are when others are between them', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(PART)
    const upload = await begin()
    const [first, third] = [await write(upload, 0, bytes), await write(upload, 2, bytes)]
    const completed = (await opened().parts.complete(upload, inOrder([first, third])))!
    for (const start of completed.starts) {
      const part = await fetchBytes(opened(), keyOf(upload), { start, end: start + PART - 1 })
      expect(part!.equals(bytes)).toBe(true)
    }
    await opened().remove(keyOf(upload))
  })

  it('SESS-05 removes the parts of an incomplete object', async () => {
    const upload = await begin()
    const part = await write(upload, 0, randomBytes(PART))
    await opened().remove(keyOf(upload))
    expect(await opened().parts.complete(upload, [part!])).toBeNull()
    expect(await opened().stat(keyOf(upload))).toBeNull()
  })
}
