import { hash } from 'node:crypto'
import { compareCodePoints, sortedByFilename } from '@svc/protocol/order'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openChunkList, writeChunkList } from '../../../src/attestations/snapshots/chunk-list.ts'
import { hostileNames } from './snapshot-files.ts'

const anyName = fc.oneof(fc.constantFrom(...hostileNames), fc.string({ unit: 'binary', minLength: 1, maxLength: 5 }))
const anyEntry = fc.record({ filename: anyName, rowCount: fc.integer({ min: 1, max: 1024 }), id: fc.nat() })
const anyEntries = fc
  .uniqueArray(anyEntry, { minLength: 1, maxLength: 40, selector: ({ filename }) => filename })
  .map((entries) =>
    sortedByFilename(entries).map(({ filename, rowCount, id }) => ({
      firstFilename: filename,
      rowCount,
      id: hash('sha256', String(id)),
    })),
  )

describe('a chunk list', () => {
  it('lists the chunks that were written', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        const list = openChunkList(writeChunkList(entries))
        expect(list.length).toBe(entries.length)
        expect(entries.map((_, i) => list.id(i))).toEqual(entries.map(({ id }) => id))
        expect(entries.map((_, i) => list.firstRow(i))).toEqual(entries.map((_, i) => rowsOf(entries.slice(0, i))))
        expect(list.rowCount).toBe(rowsOf(entries))
      }),
    )
  })

  it('MERK-04 finds the chunk of a name in code-point order, and the chunk of a row', () => {
    fc.assert(
      fc.property(anyEntries, anyName, fc.nat(), (entries, name, pick) => {
        const list = openChunkList(writeChunkList(entries))
        const before = entries.findLastIndex(({ firstFilename }) => compareCodePoints(firstFilename, name) <= 0)
        expect(list.chunkOfName(name)).toBe(Math.max(before, 0))
        const row = pick % list.rowCount
        expect(list.chunkOfRow(row)).toBe(entries.findLastIndex((_, i) => rowsOf(entries.slice(0, i)) <= row))
      }),
    )
  })

  it('can be read from the middle of a larger buffer', () => {
    const bytes = writeChunkList([{ id: 'ab'.repeat(32), firstFilename: 'a', rowCount: 3 }])
    const larger = new Uint8Array(bytes.length + 7)
    larger.set(bytes, 7)
    expect(openChunkList(larger.subarray(7)).id(0)).toBe('ab'.repeat(32))
  })
})

function rowsOf(entries: readonly { rowCount: number }[]): number {
  return entries.reduce((sum, { rowCount }) => sum + rowCount, 0)
}
