import { setImmediate } from 'node:timers/promises'
import { forEachDatabase } from '@svc/devnet/databases'
import { beforeAll, describe, expect, it } from 'vitest'
import { takeSnapshot, takeSnapshotHere } from '../../../src/attestations/snapshots/take-snapshot.ts'
import { takeSnapshotInThread } from '../../../src/attestations/snapshots/threads.ts'
import { fileNamed, manyFiles } from './files.ts'
import { filesIn, keep, objectOf, openTestLocker, type TestLocker } from './snapshots.ts'

/** More than are done without threads. */
const FILES = 5500

forEachDatabase('a snapshot that is taken in a thread', (database) => {
  let locker: TestLocker
  beforeAll(async () => {
    locker = await openTestLocker(database)
    await locker.put(manyFiles(FILES))
    await locker.announce(['unconfirmed'])
  })

  it('EVID-02 MERK-13 is the same as one that is taken here', async () => {
    const here = await takeSnapshotHere(locker.request)
    expect(await takeSnapshotInThread(locker.request)).toEqual(here)
    expect(await takeSnapshot(locker.request)).toEqual(here)
    expect(here).toMatchObject({ fileCount: FILES, manifestFileCount: FILES + 1 })
  })

  it('stores the chunks that are missing', async () => {
    const fresh = await openTestLocker(database)
    const files = manyFiles(2000).map((file) => ({ ...file, filename: `fresh/${file.filename}` }))
    await fresh.put(files)
    const snapshot = (await takeSnapshotInThread(fresh.request))!
    await keep(fresh.db, snapshot)
    expect(await filesIn(fresh.db, snapshot)).toEqual(files)
  })

  it('ATT-20 leaves out what is absent, and tells how far it is', async () => {
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

  it('passes on what providers call the objects', async () => {
    const named = await openTestLocker(database)
    await named.put([fileNamed('a'), fileNamed('b')])
    await named.db
      .updateTable('files')
      .set({ provider_ref: 'tx 1' })
      .where('filename', '=', 'b')
      .where('locker_id', '=', named.lockerId)
      .execute()
    const asked: unknown[] = []
    const findAbsent = async (objects: readonly unknown[]) => {
      asked.push(...objects)
      return new Set<string>()
    }
    await takeSnapshotInThread({ ...named.request, findAbsent })
    expect(asked).toEqual([objectOf('a'), { ...objectOf('b'), ref: 'tx 1' }])
  })

  it('shows one version of the manifest, while files come, go and change', async () => {
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
    await keep(busy.db, snapshot)
    expect(writes).toBe(3)
    expect(snapshot.manifestVersion).toBe(1)
    expect(await filesIn(busy.db, snapshot)).toEqual(files)
  })

  it('lets this thread answer others meanwhile', async () => {
    let isDone = false
    let turns = 0
    const others = async () => {
      while (!isDone) {
        await setImmediate()
        turns++
      }
    }
    const taken = takeSnapshotInThread(locker.request).finally(() => {
      isDone = true
    })
    await Promise.all([taken, others()])
    // In one go it would be a few.
    expect(turns).toBeGreaterThan(100)
  })

  it('is none where there is nothing to attest', async () => {
    const empty = await openTestLocker(database)
    expect(await takeSnapshotInThread(empty.request)).toBeNull()
  })

  describe('that fails', () => {
    it('rejects with what the question about objects rejected with', async () => {
      const trouble = new Error('the provider is away')
      const findAbsent = () => Promise.reject(trouble)
      await expect(takeSnapshotInThread({ ...locker.request, findAbsent })).rejects.toBe(trouble)
    })

    it('rejects with what went wrong in the thread', async () => {
      const lockerId = 'locker_none'
      await expect(takeSnapshotInThread({ ...locker.request, lockerId })).rejects.toThrow(
        'there is no locker locker_none',
      )
    })

    it('rejects with what went wrong in the thread behind it', async () => {
      const unlucky = await openTestLocker(database)
      // Whatever it is, no other locker's chunks have it.
      await unlucky.put(manyFiles(500).map((file) => ({ ...file, content_type: unlucky.lockerId })))
      await unlucky.db.schema.alterTable('snapshot_chunks').renameTo('chunks_elsewhere').execute()
      await expect(takeSnapshotInThread(unlucky.request)).rejects.toThrow('snapshot_chunks')
      await unlucky.db.schema.alterTable('chunks_elsewhere').renameTo('snapshot_chunks').execute()
      expect(await takeSnapshotInThread(unlucky.request)).toMatchObject({ fileCount: 500 })
    })

    it('ends when it is given up, and leaves the database to others', async () => {
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

    it('does not wait for an answer that never comes', async () => {
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
