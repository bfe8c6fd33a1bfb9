import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { resultHash } from '@svc/protocol/attestation'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { takeSnapshot, takeSnapshotHere } from '../../../src/evidence/snapshots/take-snapshot.ts'
import { anyFiles, fileNamed, manyFiles } from './snapshot-files.ts'
import { filesIn, insert, objectOf, openTestLocker } from './snapshot-locker.ts'

forEachDatabase('a snapshot of a locker', (database) => {
  it('EVID-02 ATT-01 stores any files unchanged and in code-point order', async () => {
    await fc.assert(
      fc.asyncProperty(anyFiles, fc.nat(), async (files, salt) => {
        const locker = await openTestLocker(database)
        await locker.put(files.toSorted((a, b) => sortKey(a.filename, salt) - sortKey(b.filename, salt)))
        const snapshot = await locker.snapshot()
        expect(await filesIn(locker.db, snapshot)).toEqual(files)
        expect(snapshot).toMatchObject({
          resultHash: resultHash(locker.lockerId, files),
          manifestFileCount: files.length,
        })
      }),
      { numRuns: 15 },
    )
  })

  it('MERK-21 ATT-20 counts all entries, lists the confirmed ones, and reports its progress', async () => {
    const locker = await openTestLocker(database)
    const files = manyFiles(1500)
    await locker.put(files)
    await locker.announce(['a', 'folder/0000700.txt-', 'z'])
    const progress: number[] = []
    const snapshot = await locker.snapshot({ onProgress: (entries) => progress.push(entries) })
    expect(progress).toEqual([1000, 1503])
    expect(snapshot).toMatchObject({ fileCount: 1500, manifestFileCount: 1503 })
    expect(await filesIn(locker.db, snapshot)).toEqual(files)
  })

  it('ATT-20 omits files whose bytes are gone, and checks each confirmed file once', async () => {
    const locker = await openTestLocker(database)
    const files = manyFiles(2500)
    await locker.put(files)
    await locker.announce(['unconfirmed'])
    const gone = new Set(['folder/0000000.txt', 'folder/0001234.txt', 'folder/0002499.txt'])
    const goneIds = [...gone].map((name) => objectOf(name).id)
    const asked: unknown[] = []
    const findAbsent = async (objects: readonly unknown[]) => {
      asked.push(...objects)
      return new Set(goneIds)
    }
    const snapshot = await locker.snapshot({ findAbsent })
    expect(snapshot).toMatchObject({ fileCount: 2497, manifestFileCount: 2501 })
    expect(await filesIn(locker.db, snapshot)).toEqual(files.filter(({ filename }) => !gone.has(filename)))
    expect(asked).toEqual(files.map(({ filename }) => objectOf(filename)))
  })

  it('MERK-08 ATT-21 is null when there is no file to attest', async () => {
    const locker = await openTestLocker(database)
    expect(await takeSnapshot(locker.request)).toBeNull()
    await locker.announce(['awaited'])
    expect(await takeSnapshot(locker.request)).toBeNull()
    await locker.put([fileNamed('gone')])
    const findAbsent = async () => new Set([objectOf('gone').id])
    expect(await takeSnapshot({ ...locker.request, findAbsent })).toBeNull()
  })

  it('shares its chunks with the next snapshot, and its row with an equal one', async () => {
    const locker = await openTestLocker(database)
    const countOf = async (table: 'snapshots' | 'snapshot_chunks') =>
      (await locker.db.selectFrom(table).selectAll().execute()).length
    const counts = async () => ({ snapshots: await countOf('snapshots'), chunks: await countOf('snapshot_chunks') })
    await locker.put(manyFiles(3000).map((file) => ({ ...file, filename: `shared/${file.filename}` })))
    const first = await locker.snapshot()
    const before = await counts()
    const again = await locker.snapshot()
    expect(again).toEqual(first)
    expect(await counts()).toEqual(before)
    await locker.put([fileNamed('shared/folder/0001500.txt, and one more')])
    const next = await locker.snapshot()
    expect(next.manifestVersion).toBe(first.manifestVersion + 1)
    const after = await counts()
    expect(after.snapshots).toBe(before.snapshots + 1)
    expect(after.chunks - before.chunks).toBeLessThanOrEqual(2)
    expect(await filesIn(locker.db, first)).toHaveLength(3000)
    expect(await filesIn(locker.db, next)).toHaveLength(3001)
  })

  it('shows one version of the manifest during concurrent writes', async () => {
    const locker = await openTestLocker(database)
    const files = manyFiles(3500)
    await locker.put(files)
    await locker.announce(['folder/0003000.txt-unconfirmed'])
    const { manifest_version: version } = await locker.db
      .selectFrom('lockers')
      .select('manifest_version')
      .where('locker_id', '=', locker.lockerId)
      .executeTakeFirstOrThrow()
    let writes = 0
    let written = Promise.resolve()
    const findAbsent = async () => {
      written = written.then(change)
      await written
      return new Set<string>()
    }
    const change = async () => {
      const last = files.length - 1 - writes++
      await locker.remove([files[last]!.filename])
      await locker.put([
        { ...files[last - 100]!, size_bytes: 1_000_000 },
        fileNamed(`folder/0003499.txt-${writes}`),
        fileNamed('folder/0003000.txt-unconfirmed'),
      ])
    }
    const snapshot = await locker.snapshot({ findAbsent })
    expect(writes).toBeGreaterThan(2)
    expect(snapshot).toMatchObject({ manifestVersion: version, manifestFileCount: 3501 })
    expect(await filesIn(locker.db, snapshot)).toEqual(files)
    expect(await filesIn(locker.db, await locker.snapshot())).not.toEqual(files)
  })

  it('fails with the cause, and leaves nothing open or locked', async () => {
    const locker = await openTestLocker(database)
    await locker.put(manyFiles(2100))
    const failure = new Error('the provider is unavailable')
    const findAbsent = () => Promise.reject(failure)
    await expect(takeSnapshotHere({ ...locker.request, findAbsent })).rejects.toBe(failure)
    await expect(takeSnapshot({ ...locker.request, lockerId: 'locker_none' })).rejects.toThrow()
    await expect(takeSnapshotHere({ ...locker.request, lockerId: 'locker_none' })).rejects.toThrow('locker_none')
    const stop = new AbortController()
    const onProgress = () => stop.abort(new Error('the gateway stops'))
    await expect(takeSnapshotHere({ ...locker.request, onProgress, signal: stop.signal })).rejects.toThrow('stops')
    await locker.put([fileNamed('after')])
    expect((await locker.snapshot()).fileCount).toBe(2101)
  })

  it('cannot be read when a chunk is damaged or missing', async () => {
    const locker = await openTestLocker(database)
    await locker.put([fileNamed(`only in ${locker.lockerId}`)])
    const snapshot = await locker.snapshot()
    const [chunk] = await locker.db
      .selectFrom('snapshot_chunks')
      .selectAll()
      .where('content', 'like', `%${locker.lockerId}%`)
      .execute()
    const content = chunk!.content.replace('only', 'also')
    await writable(locker.db)
      .updateTable('snapshot_chunks')
      .set({ content })
      .where('chunk_id', '=', chunk!.chunk_id)
      .execute()
    await expect(filesIn(locker.db, snapshot)).rejects.toThrow(chunk!.chunk_id)
    await writable(locker.db).deleteFrom('snapshot_chunks').where('chunk_id', '=', chunk!.chunk_id).execute()
    await expect(filesIn(locker.db, snapshot)).rejects.toThrow(chunk!.chunk_id)
    await insert(locker.db, (await takeSnapshotHere(locker.request))!)
    expect(await filesIn(locker.db, snapshot)).toHaveLength(1)
  })
})

/** A pseudo-random sort key. */
function sortKey(name: string, salt: number): number {
  return Array.from(name).reduce((sum, char) => (sum * 31 + char.codePointAt(0)! + salt) % 1009, 7)
}
