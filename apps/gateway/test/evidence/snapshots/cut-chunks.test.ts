import { hash } from 'node:crypto'
import { bare } from '@svc/protocol/bytes'
import { leafHash } from '@svc/protocol/merkle'
import { compareCodePoints, sortedByFilename } from '@svc/protocol/order'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openChunkList, writeChunkList } from '../../../src/db/chunk-list.ts'
import {
  fileOf,
  fileRowsOf,
  indexInChunk,
  readContent,
  readStoredFiles,
  type SnapshotFile,
} from '../../../src/evidence/snapshots/chunk-content.ts'
import { type Chunk, chunkBorders, createChunkCutter, MAX_ROWS } from '../../../src/evidence/snapshots/cut-chunks.ts'
import { anyFiles, fileNamed, hostileNames, manyFiles } from './snapshot-files.ts'

const KEY = '5a'.repeat(32)

function cutAll(files: readonly SnapshotFile[], { key = KEY, atOnce = files.length } = {}): Chunk[] {
  const cutter = createChunkCutter(key)
  const chunks: Chunk[] = []
  for (let start = 0; start < files.length; start += atOnce)
    chunks.push(...cutter.cut(fileRowsOf(files.slice(start, start + atOnce))))
  return [...chunks, ...cutter.end()]
}

const idsOf = (files: readonly SnapshotFile[]) => new Set(cutAll(files).map(({ id }) => id))

describe('chunks of a file list', () => {
  it('EVID-02 contain every file unchanged and in order, with its leaf', () => {
    fc.assert(
      fc.property(anyFiles, fc.integer({ min: 1, max: 50 }), (files, atOnce) => {
        const chunks = cutAll(files, { atOnce })
        expect(chunks.flatMap(({ content }) => readContent(content))).toEqual(files)
        expect(chunks.map(({ leaves }) => leaves).join('')).toBe(files.map(leafHash).join(''))
        expect(chunks.reduce((sum, { totalBytes }) => sum + totalBytes, 0n)).toBe(
          files.reduce((sum, { size_bytes }) => sum + BigInt(size_bytes), 0n),
        )
        expect(chunks.every(({ content, firstFilename }) => readContent(content)[0]?.filename === firstFilename)).toBe(
          true,
        )
      }),
      { numRuns: 50 },
    )
  })

  it('EVID-20 are read field by field from their stored form, and are searched by name', () => {
    fc.assert(
      fc.property(anyFiles, (files) => {
        for (const { id, content } of cutAll(files)) {
          expect(id).toBe(hash('sha256', content))
          const stored = readStoredFiles(content)
          expect(stored.map(fileOf)).toEqual(readContent(content))
          for (const [i, { filename, size_bytes, content_hash, content_type }] of readContent(content).entries()) {
            expect(`{${stored[i]!.nameAndSize}}`).toBe(JSON.stringify({ filename, size_bytes }))
            expect(stored[i]).toMatchObject({ contentHash: bare(content_hash), contentType: content_type })
            expect(indexInChunk(content, filename)).toBe(i)
          }
          expect(indexInChunk(content, 'none of them: longer than twelve')).toBe(-1)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('MERK-17 are read to their end despite any damage', () => {
    const { content } = cutAll(manyFiles(30))[0]!
    const end = content.indexOf('],"content_types"')
    fc.assert(
      fc.property(fc.nat(end - 40), fc.integer({ min: 1, max: 40 }), (at, length) => {
        const damaged = content.slice(0, at) + content.slice(at + length)
        expect(readStoredFiles(damaged).length).toBeLessThanOrEqual(readStoredFiles(content).length)
      }),
    )
  })

  it('differ in at most two chunks after a file is inserted, deleted or replaced', () => {
    const files = manyFiles(3000)
    const before = idsOf(files)
    const change = fc.tuple(fc.nat(files.length - 1), fc.constantFrom('insert', 'delete', 'replace'), fc.nat())
    fc.assert(
      fc.property(change, ([at, kind, salt]) => {
        const old = files[at] as SnapshotFile
        const fresh = kind === 'insert' ? fileNamed(`${old.filename}-${salt}`) : { ...old, size_bytes: 1000 + salt }
        const inserted = kind === 'delete' ? [] : [fresh]
        const after = idsOf(kind === 'insert' ? files.toSpliced(at + 1, 0, fresh) : files.toSpliced(at, 1, ...inserted))
        expect(missingFrom(before, after)).toBeLessThanOrEqual(2)
        expect(missingFrom(after, before)).toBeLessThanOrEqual(2)
        expect(after).not.toEqual(before)
      }),
      { numRuns: 20 },
    )
  })

  it('contain about 64 files each', () => {
    const counts = cutAll(manyFiles(40_000)).map(({ rowCount }) => rowCount)
    expect(counts.length).toBeGreaterThan(440)
    expect(counts.length).toBeLessThan(820)
  })

  it('contain at most 512 files, and file names cannot control where they are cut', () => {
    const closes = chunkBorders(KEY)
    const unclosed = manyFiles(5000).filter((file) => !closes(leafHash(file)))
    const counts = cutAll(unclosed).map(({ rowCount }) => rowCount)
    expect(counts.slice(0, -1).every((count) => count === MAX_ROWS)).toBe(true)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(unclosed.length)
    expect(cutAll(unclosed, { key: 'a5'.repeat(32) }).length).toBeGreaterThan(15)
  })
})

function missingFrom(ids: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...others].filter((id) => !ids.has(id)).length
}

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
  it('lists the written chunks', () => {
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

  it('MERK-04 finds the chunk of a name in code-point order and the chunk of a row', () => {
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
