import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { bare } from '@svc/protocol/bytes'
import { foldProof, leafHash, merkleLevels, merkleProof, treeDepth } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { expect, it } from 'vitest'
import type { Db } from '../../../src/db/schema.ts'
import type { SnapshotFile } from '../../../src/evidence/snapshots/chunk-content.ts'
import { openProofCache, proveFile } from '../../../src/evidence/snapshots/prove-file.ts'
import { fileNamed, hostileNames, manyFiles } from './snapshot-files.ts'
import { openTestLocker } from './snapshot-locker.ts'

const SMALL = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 65]
const LARGE = [129, 513, 1023, 1024, 1025, 2047, 2048, 2049, 5000]

function proverOf(db: Db) {
  const parts = { database: { db }, proofCache: openProofCache() }
  return (key: string, filename: string) => proveFile(parts, key, filename)
}

forEachDatabase('a proof from a snapshot', (database) => {
  async function lockerOf(files: readonly SnapshotFile[]) {
    const locker = await openTestLocker(database)
    await locker.put(files)
    return { db: locker.db, proveFile: proverOf(locker.db), snapshot: await locker.snapshot() }
  }

  /** Expects that the proofs of these files equal those of the plain tree. */
  async function expectProofs(files: readonly SnapshotFile[], picks: readonly number[]): Promise<void> {
    const { proveFile, snapshot } = await lockerOf(files)
    const leaves = files.map(leafHash)
    const levels = merkleLevels(leaves)
    for (const leafIndex of picks) {
      const file = files[leafIndex] as SnapshotFile
      const proof = await proveFile(snapshot.key, file.filename)
      expect(proof).toEqual({
        leafIndex,
        leafHash: leaves[leafIndex],
        proof: merkleProof(levels, leafIndex),
        fileCount: files.length,
        treeDepth: treeDepth(files.length),
        file,
      })
      expect(foldProof(proof!.leafHash, proof!.proof)).toBe(bare(snapshot.merkleRoot))
    }
  }

  it.each(SMALL)('MERK-18 MERK-20 equals the proof of the plain tree, for every file of %i', async (count) => {
    const files = manyFiles(count)
    await expectProofs(files, [...files.keys()])
  })

  it.each(LARGE)(
    'MERK-18 MERK-20 equals the proof of the plain tree, for the first, the last and files at block borders of %i',
    async (count) => {
      const picks = [0, 1, 2, 100, 511, 512, 1022, 1023, 1024, 1025, 2046, 2047, 2048, 4095, 4096, count - 2, count - 1]
      await expectProofs(manyFiles(count), [...new Set(picks.filter((pick) => pick < count))])
    },
  )

  it('MERK-18 equals the proof of the plain tree, for files with hostile names', async () => {
    const files = sortedByFilename([...new Set(hostileNames)].map(fileNamed))
    const picks = [...files.keys()].filter((i) => i % 7 === 0)
    await expectProofs(files, picks)
  })

  it('MERK-17 is null for a name that is not in the snapshot, and for an unknown snapshot', async () => {
    const { proveFile, snapshot } = await lockerOf(manyFiles(1500))
    for (const name of ['', 'a', 'folder/0000700.txt-', 'folder/0000700.tx', 'folder/0001500.txt', '😀', '\ud800']) {
      expect(await proveFile(snapshot.key, name)).toBeNull()
    }
    expect(await proveFile('ab'.repeat(32), 'folder/0000000.txt')).toBeNull()
  })

  it.each([3, 1500])('MERK-17 is refused when a chunk of %i files is damaged or missing', async (count) => {
    const { db, proveFile, snapshot } = await lockerOf(manyFiles(count).map((file) => ({ ...file, size_bytes: count })))
    const name = 'folder/0000001.txt'
    const known = await proveFile(snapshot.key, name)
    expect(known).not.toBeNull()
    const { chunk_id, content } = await db
      .selectFrom('snapshot_chunks')
      .selectAll()
      .where('content', 'like', `%"${name}","size_bytes":${count}}%`)
      .executeTakeFirstOrThrow()
    const write = (damaged: string) =>
      writable(db).updateTable('snapshot_chunks').set({ content: damaged }).where('chunk_id', '=', chunk_id).execute()
    for (const [part, other] of [
      [`"${name}","size_bytes":${count}`, `"${name}","size_bytes":7`],
      [name, 'folder/0000001.jpg'],
      [known!.file.content_hash.slice('sha256:'.length), 'ab'.repeat(32)],
    ] as const) {
      await write(content.replace(part, other))
      for (const proofs of [proveFile, proverOf(db)]) {
        await expect(proofs(snapshot.key, name)).rejects.toThrow(chunk_id)
      }
    }
    await writable(db).deleteFrom('snapshot_chunks').where('chunk_id', '=', chunk_id).execute()
    await expect(proveFile(snapshot.key, name)).rejects.toThrow(chunk_id)
    await writable(db).insertInto('snapshot_chunks').values({ chunk_id, content }).execute()
    expect(await proveFile(snapshot.key, name)).toEqual(known)
  })
})
