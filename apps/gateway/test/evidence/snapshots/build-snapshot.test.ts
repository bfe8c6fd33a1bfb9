import { resultHash } from '@svc/protocol/attestation'
import { withPrefix } from '@svc/protocol/bytes'
import { manifestDigest } from '@svc/protocol/ids'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../../../../vectors/protocol.json' with { type: 'json' }
import { createSnapshotBuilder } from '../../../src/evidence/snapshots/build-snapshot.ts'
import { fileRowsOf, type SnapshotFile } from '../../../src/evidence/snapshots/chunk-content.ts'
import { createChunkCutter } from '../../../src/evidence/snapshots/cut-chunks.ts'
import type { ChunkRow } from '../../../src/evidence/snapshots/store.ts'
import { anyFiles, manyFiles } from './snapshot-files.ts'

const LOCKER = vectors.merkle.locker_id

async function build(files: readonly SnapshotFile[]) {
  const stored: ChunkRow[] = []
  const builder = createSnapshotBuilder(LOCKER, async (chunks) => void stored.push(...chunks))
  const cutter = createChunkCutter('ab'.repeat(32))
  await builder.add(cutter.cut(fileRowsOf(files)))
  await builder.add(cutter.end())
  return { built: await builder.end(), stored }
}

describe('a built snapshot', () => {
  it.each(vectors.merkle.sets)(
    'MERK-02 MERK-03 has the same digests as another implementation for $file_count files',
    async (set) => {
      const files = sortedByFilename(
        set.input_order_filenames.map((name) => vectors.files.find((file) => file.filename === name)!),
      )
      const { built } = await build(files)
      expect(built).toMatchObject({
        merkleRoot: set.merkle_root,
        manifestDigest: set.manifest_digest.manifest_digest,
        resultHash: set.result_hash.result_hash,
        fileCount: set.file_count,
        totalBytes: BigInt(set.total_bytes),
      })
    },
  )

  it('MERK-05 MERK-07 has the same digests as the protocol functions for any files', async () => {
    await fc.assert(
      fc.asyncProperty(anyFiles, async (files) => {
        const { built } = await build(files)
        expect(built).toMatchObject({
          merkleRoot: withPrefix(merkleRoot(files.map(leafHash))),
          manifestDigest: manifestDigest(files),
          resultHash: resultHash(LOCKER, files),
          fileCount: files.length,
        })
        expect(built?.row.total_bytes).toBe(String(files.reduce((sum, file) => sum + BigInt(file.size_bytes), 0n)))
      }),
      { numRuns: 50 },
    )
  })

  it('MERK-08 is null for no files', async () => {
    expect(await build([])).toEqual({ built: null, stored: [] })
  })

  it('has the same key for the same files, and another key when only a content type differs', async () => {
    const files = manyFiles(500)
    const other = files.with(7, { ...(files[7] as SnapshotFile), content_type: 'text/html' })
    const [first, again, changed] = [await build(files), await build(files), await build(other)]
    expect(again.built).toEqual(first.built)
    expect(changed.built?.merkleRoot).toBe(first.built?.merkleRoot)
    expect(changed.built?.key).not.toBe(first.built?.key)
  })
})
