import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import type { ObjectKey } from '@svc/storage/provider'
import { beforeAll, describe, expect, it } from 'vitest'
import { takeSnapshot, takeSnapshotHere } from '../../../src/evidence/snapshots/take-snapshot.ts'
import { takeSnapshotInThread } from '../../../src/evidence/snapshots/threads.ts'
import { fileNamed, manyFiles } from './snapshot-files.ts'
import { filesIn, insert, objectOf, openTestLocker, type TestLocker } from './snapshot-locker.ts'

/** More files than a snapshot without threads may have. */
const FILES = 5500

forEachDatabase('a snapshot that is taken in a thread', (database) => {
  let locker: TestLocker
  beforeAll(async () => {
    locker = await openTestLocker(database)
    await locker.put(manyFiles(FILES))
    await locker.announce(['unconfirmed'])
  })

  it('MERK-13 ATT-20 equals one without threads, stores its chunks, and checks each object', {
    tags: ['nightly'],
  }, async () => {
    const gone = ['folder/0000000.txt', 'folder/0004001.txt', 'folder/0005499.txt'].map((name) => objectOf(name).id)
    const refs = writable(locker.db).updateTable('files').where('locker_id', '=', locker.lockerId)
    await refs.set({ provider_ref: 'tx 1' }).where('filename', '=', 'folder/0000001.txt').execute()
    const progress: number[] = []
    const asked: ObjectKey[] = []
    const findAbsent = async (objects: readonly ObjectKey[]) => {
      asked.push(...objects)
      return new Set(gone)
    }
    const onProgress = (entries: number) => progress.push(entries)
    const inThread = (await takeSnapshotInThread({ ...locker.request, findAbsent, onProgress }))!
    expect(progress).toEqual([1000, 2000, 3000, 4000, 5000, FILES + 1])
    expect(asked).toHaveLength(FILES)
    expect(asked[1]).toEqual({ ...objectOf('folder/0000001.txt'), ref: 'tx 1' })
    await insert(locker.db, inThread)
    expect(await filesIn(locker.db, inThread)).toHaveLength(FILES - 3)
    const request = { ...locker.request, findAbsent }
    for (const take of [takeSnapshotHere, takeSnapshot]) expect(await take(request)).toEqual(inThread)
    expect(inThread).toMatchObject({ fileCount: FILES - 3, manifestFileCount: FILES + 1 })
    const empty = await openTestLocker(database)
    expect(await takeSnapshotInThread(empty.request)).toBeNull()
  })

  it('leaves the main thread only the counting of files', { tags: ['nightly'] }, async () => {
    let queries = 0
    const db = writable(locker.db).withPlugin({
      transformQuery({ node }) {
        queries++
        return node
      },
      transformResult: async ({ result }) => result,
    })
    expect(await takeSnapshot({ ...locker.request, db })).toMatchObject({ fileCount: FILES })
    expect(queries).toBe(1)
  })

  describe('that fails', () => {
    it('rejects with the error of the query for absent objects', async () => {
      const failure = new Error('the provider is unavailable')
      const findAbsent = () => Promise.reject(failure)
      await expect(takeSnapshotInThread({ ...locker.request, findAbsent })).rejects.toBe(failure)
    })

    it('rejects with the error of the first thread', async () => {
      const lockerId = 'locker_none'
      await expect(takeSnapshotInThread({ ...locker.request, lockerId })).rejects.toThrow(
        'there is no locker locker_none',
      )
    })

    it('rejects with the error of the second thread', { tags: ['nightly'] }, async () => {
      const damaged = await openTestLocker(database)
      // This content type occurs in no other locker's chunks.
      await damaged.put(manyFiles(500).map((file) => ({ ...file, content_type: damaged.lockerId })))
      await writable(damaged.db).schema.alterTable('snapshot_chunks').renameTo('chunks_elsewhere').execute()
      await expect(takeSnapshotInThread(damaged.request)).rejects.toThrow('snapshot_chunks')
      await writable(damaged.db).schema.alterTable('chunks_elsewhere').renameTo('snapshot_chunks').execute()
      expect(await takeSnapshotInThread(damaged.request)).toMatchObject({ fileCount: 500 })
    })

    it('ends when it is aborted and leaves the database usable', { tags: ['nightly'] }, async () => {
      const stop = new AbortController()
      const onProgress = (entries: number) => {
        if (entries === 3000) stop.abort(new Error('the gateway stops'))
      }
      await expect(takeSnapshotInThread({ ...locker.request, onProgress, signal: stop.signal })).rejects.toThrow(
        'stops',
      )
      await expect(takeSnapshotInThread({ ...locker.request, signal: stop.signal })).rejects.toThrow('stops')
      await locker.put([fileNamed('after')])
      await locker.remove(['after'])
      expect(await takeSnapshot(locker.request)).toMatchObject({ fileCount: FILES })
    })

    it('does not wait for a pending query after it is aborted', async () => {
      const stop = new AbortController()
      const findAbsent = () => {
        stop.abort(new Error('the gateway stops'))
        return new Promise<Set<string>>(() => {})
      }
      await expect(takeSnapshotInThread({ ...locker.request, findAbsent, signal: stop.signal })).rejects.toThrow(
        'stops',
      )
    })
  })
})
