import { forEachDatabase } from '@svc/devnet/databases'
import { beforeAll, describe, expect, it } from 'vitest'
import { takeSnapshot, takeSnapshotHere } from '../../../src/attestations/snapshots/take-snapshot.ts'
import { takeSnapshotInThread } from '../../../src/attestations/snapshots/threads.ts'
import { fileNamed, manyFiles } from './snapshot-files.ts'
import { filesIn, insert, objectOf, openTestLocker, type TestLocker } from './snapshot-locker.ts'

/** More than the limit for a snapshot without threads. */
const FILES = 5500

forEachDatabase('a snapshot that is taken in a thread', (database) => {
  let locker: TestLocker
  beforeAll(async () => {
    locker = await openTestLocker(database)
    await locker.put(manyFiles(FILES))
    await locker.announce(['unconfirmed'])
  })

  it('EVID-02 MERK-13 equals one that is taken without threads', { tags: ['nightly'] }, async () => {
    const here = await takeSnapshotHere(locker.request)
    expect(await takeSnapshotInThread(locker.request)).toEqual(here)
    expect(await takeSnapshot(locker.request)).toEqual(here)
    expect(here).toMatchObject({ fileCount: FILES, manifestFileCount: FILES + 1 })
  })

  it('stores the chunks that are missing, and asks about objects with the references of their provider', {
    tags: ['nightly'],
  }, async () => {
    const fresh = await openTestLocker(database)
    const files = manyFiles(2000).map((file) => ({ ...file, filename: `fresh/${file.filename}` }))
    await fresh.put(files)
    const { filename } = files[1]!
    await fresh.db
      .updateTable('files')
      .set({ provider_ref: 'tx 1' })
      .where('filename', '=', filename)
      .where('locker_id', '=', fresh.lockerId)
      .execute()
    const asked: unknown[] = []
    const findAbsent = async (objects: readonly unknown[]) => {
      asked.push(...objects)
      return new Set<string>()
    }
    const snapshot = (await takeSnapshotInThread({ ...fresh.request, findAbsent }))!
    await insert(fresh.db, snapshot)
    expect(await filesIn(fresh.db, snapshot)).toEqual(files)
    expect(asked).toEqual(
      files.map((file) => ({ ...objectOf(file.filename), ref: file.filename === filename ? 'tx 1' : null })),
    )
  })

  it('ATT-20 leaves out absent files and reports its progress', { tags: ['nightly'] }, async () => {
    const gone = ['folder/0000000.txt', 'folder/0004001.txt', 'folder/0005499.txt'].map((name) => objectOf(name).id)
    const asked: number[] = []
    const heard: number[] = []
    const options = {
      findAbsent: async (objects: readonly unknown[]) => {
        asked.push(objects.length)
        return new Set(gone)
      },
      onProgress: (entries: number) => heard.push(entries),
    }
    const snapshot = await takeSnapshotInThread({ ...locker.request, ...options })
    expect(snapshot).toMatchObject({ fileCount: FILES - 3, manifestFileCount: FILES + 1 })
    expect(snapshot).toEqual(await takeSnapshotHere({ ...locker.request, findAbsent: options.findAbsent }))
    expect(asked.slice(0, 5)).toEqual(Array(5).fill(1000))
    expect(heard).toEqual([...Array.from({ length: 5 }, (_, i) => (i + 1) * 1000), FILES + 1])
  })

  it('shows one version of the manifest while files are added, removed and replaced', {
    tags: ['nightly'],
  }, async () => {
    const busy = await openTestLocker(database)
    const files = manyFiles(3000)
    await busy.put(files)
    let writes = 0
    const findAbsent = async () => {
      const last = files.length - 1 - writes++
      await busy.remove([files[last]!.filename])
      await busy.put([{ ...files[last - 1000]!, size_bytes: 1_000_000 }, fileNamed(`folder/0002999.txt-${writes}`)])
      return new Set<string>()
    }
    const snapshot = (await takeSnapshotInThread({ ...busy.request, findAbsent }))!
    await insert(busy.db, snapshot)
    expect(writes).toBe(3)
    expect(snapshot.manifestVersion).toBe(1)
    expect(await filesIn(busy.db, snapshot)).toEqual(files)
  })

  it('leaves the main thread nothing to do but to count the files', { tags: ['nightly'] }, async () => {
    let queries = 0
    const db = locker.db.withPlugin({
      transformQuery({ node }) {
        queries++
        return node
      },
      transformResult: async ({ result }) => result,
    })
    expect(await takeSnapshot({ ...locker.request, db })).toMatchObject({ fileCount: FILES })
    expect(queries).toBe(1)
  })

  it('is null if there is nothing to attest', { tags: ['nightly'] }, async () => {
    const empty = await openTestLocker(database)
    expect(await takeSnapshotInThread(empty.request)).toBeNull()
  })

  describe('that fails', () => {
    it('rejects with the error of the query for absent objects', async () => {
      const failure = new Error('the provider is away')
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
      const unlucky = await openTestLocker(database)
      // A content type that no other locker's chunks have.
      await unlucky.put(manyFiles(500).map((file) => ({ ...file, content_type: unlucky.lockerId })))
      await unlucky.db.schema.alterTable('snapshot_chunks').renameTo('chunks_elsewhere').execute()
      await expect(takeSnapshotInThread(unlucky.request)).rejects.toThrow('snapshot_chunks')
      await unlucky.db.schema.alterTable('chunks_elsewhere').renameTo('snapshot_chunks').execute()
      expect(await takeSnapshotInThread(unlucky.request)).toMatchObject({ fileCount: 500 })
    })

    it('ends when it is aborted, and leaves the database usable', { tags: ['nightly'] }, async () => {
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
