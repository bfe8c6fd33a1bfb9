import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { resultHash } from '../src/attestation.ts'
import { hashFileList, listRow } from '../src/file-list.ts'
import { manifestDigest } from '../src/ids.ts'
import type { FileEntry } from '../src/merkle.ts'
import { sortedByFilename } from '../src/order.ts'
import { HOSTILE_FILENAMES } from './filenames.ts'

/** Names that look like rows. */
const trickyName = fc
  .array(
    fc.constantFrom('"', '\\', ',', '}', '{', ':', '"size_bytes":1}', ',"size_bytes":', '1', '-', '\n', '😀', '\ue000'),
  )
  .map((parts) => parts.join(''))
const anyFile: fc.Arbitrary<FileEntry> = fc.record({
  filename: fc.oneof(
    trickyName,
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(...HOSTILE_FILENAMES.filter(({ accepted }) => accepted).map(({ name }) => name)),
  ),
  size_bytes: fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER)),
  content_hash: fc.oneof(
    fc
      .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })
      .map((hash) => `sha256:${hash}`),
    trickyName,
  ),
})

/** Adds this many rows in each call. */
function digestsOf(lockerId: string, files: readonly FileEntry[], chunkSize: number) {
  const hasher = hashFileList(lockerId)
  for (let start = 0; start < files.length; start += chunkSize) {
    hasher.add(
      files
        .slice(start, start + chunkSize)
        .map(listRow)
        .join(),
    )
  }
  return hasher.end()
}

describe('the digests of a long file list', () => {
  it('EVID-02 MERK-13 equal those of a list in memory, for any files and chunks', () => {
    fc.assert(
      fc.property(
        fc.array(anyFile, { maxLength: 30 }),
        fc.nat({ max: 9 }),
        trickyName,
        (files, chunkSize, lockerId) => {
          const expected = { manifestDigest: manifestDigest(files), resultHash: resultHash(lockerId, files) }
          expect(digestsOf(lockerId, files, chunkSize + 1)).toEqual(expected)
        },
      ),
      { numRuns: 150 },
    )
  })

  it.each(vectors.merkle.sets)('EVID-02 MERK-13 equal those of another implementation for $file_count files', (set) => {
    const files = sortedByFilename(
      set.input_order_filenames.map((name) => vectors.files.find((file) => file.filename === name)!),
    )
    expect(digestsOf(vectors.merkle.locker_id, files, 2)).toEqual({
      manifestDigest: set.manifest_digest.manifest_digest,
      resultHash: set.result_hash.result_hash,
    })
  })

  it('EVID-06 EVID-07 fail for values without canonical text', () => {
    const file = { filename: 'a', size_bytes: 1, content_hash: 'ab'.repeat(32) }
    for (const wrong of [
      { filename: 'a\ud800' },
      { size_bytes: 1.5 },
      { size_bytes: 2 ** 53 },
      { size_bytes: Number.NaN },
    ]) {
      expect(() => listRow({ ...file, ...wrong })).toThrow(expect.objectContaining({ name: 'CanonicalJsonError' }))
    }
  })
})
