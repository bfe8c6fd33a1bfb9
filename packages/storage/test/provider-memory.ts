// Part of the suite of all drivers: memory (T-11), with one object of 40 MiB.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { StorageProvider } from '../src/provider.ts'
import { newId } from './objects.ts'

const MIB = 1024 * 1024
const MIBS = 40

export function itLimitsMemory(opened: () => StorageProvider): void {
  it('T-11 keeps little of an object in memory, with a fast source and with a slow reader', {
    tags: ['nightly'],
  }, async () => {
    const provider = opened()
    const before = referencedBytes()
    let isLittle = false
    // Garbage collection is slow, so memory is measured once: a driver that buffers everything has most of it at the
    // end.
    const { source, digest } = numberedMibs(() => {
      isLittle = holdsLess(before + 24 * MIB)
    })
    const id = newId()
    const { size, ref } = await provider.write(id, source, { contentType: 'text/plain', size: null })
    expect(size).toBe(MIBS * MIB)
    expect(isLittle).toBe(true)

    const pieces = (await provider.read({ id, ref }))!.iterator()
    let given = (await pieces.next()).value.length
    // A driver that reads ahead without limit has had time for it once another reader has finished.
    const sha256 = createHash('sha256')
    for await (const piece of (await provider.read({ id, ref }))!) sha256.update(piece)
    expect(sha256.digest('hex')).toBe(digest())
    expect(holdsLess(before + 16 * MIB)).toBe(true)
    for await (const piece of pieces) {
      expect([piece[0], piece.at(-1)]).toEqual([given / MIB, (given + piece.length - 1) / MIB].map(Math.floor))
      given += piece.length
      if (given > 20 * MIB) break
    }
    expect(given).toBeGreaterThan(20 * MIB)
    await provider.remove({ id, ref })
  })
}

/** Each is filled with its number, so that a piece shows its origin. */
function numberedMibs(beforeLast: () => void) {
  const sha256 = createHash('sha256')
  let next = 0
  const source = new Readable({
    read() {
      if (next === MIBS) return void this.push(null)
      if (next === MIBS - 1) beforeLast()
      const piece = Buffer.alloc(MIB, next++)
      sha256.update(piece)
      this.push(piece)
    },
  })
  return { source, digest: () => sha256.digest('hex') }
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Bytes in buffers that are still referenced. */
function referencedBytes(): number {
  collectGarbage()
  collectGarbage() // finishes what the first left to its threads
  return process.memoryUsage().arrayBuffers
}

/** Collects garbage only if that makes the difference. */
function holdsLess(bytes: number): boolean {
  return process.memoryUsage().arrayBuffers < bytes || referencedBytes() < bytes
}
