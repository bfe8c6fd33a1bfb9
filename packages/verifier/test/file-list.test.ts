import type { FileEntry } from '@svc/protocol/merkle'
import { describe, expect, it } from 'vitest'
import { createFileOrder } from '../src/file-list.ts'
import { listedFiles } from './bundles.ts'

/** Names so long that a few hundred exceed the buffer. */
const LONG = 'x'.repeat(60_000)
const long = listedFiles(400).map((file) => ({ ...file, filename: `${file.filename}${LONG}` }))

function ordered(files: readonly FileEntry[]) {
  const order = createFileOrder()
  const released: FileEntry[] = []
  for (const file of files) {
    order.take(file)
    released.push(...order.release())
  }
  const early = released.length
  released.push(...order.end())
  return { released, early }
}

describe('createFileOrder', () => {
  it('MERK-04 sorts a short list and releases it at the end', () => {
    const files = listedFiles(100)
    expect(ordered(files.toReversed())).toEqual({ released: files, early: 0 })
  })

  it('MERK-04 releases a long list as it arrives', () => {
    const { released, early } = ordered(long)
    expect(released).toEqual(long)
    expect(early).toBe(long.length)
  })

  it('refuses a long list that is out of order at any position', () => {
    const [first, second, ...rest] = long
    expect(() => ordered([second!, first!, ...rest])).toThrow(expect.objectContaining({ code: 'unsorted_file_list' }))
    expect(() => ordered([...long, first!])).toThrow(expect.objectContaining({ code: 'unsorted_file_list' }))
  })

  it('T-21 refuses a repeated name in short and long lists', () => {
    const twice = expect.objectContaining({ code: 'duplicate_filename' })
    const files = listedFiles(10)
    expect(() => ordered([...files, files[3]!])).toThrow(twice)
    expect(() => ordered([...long, long.at(-1)!])).toThrow(twice)
  })
})
