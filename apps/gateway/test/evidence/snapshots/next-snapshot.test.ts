import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { sortedByFilename } from '@svc/protocol/order'
import type { ObjectKey } from '@svc/storage/provider'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { openChunkList } from '../../../src/db/chunk-list.ts'
import { fileRowsOf, writeContent } from '../../../src/evidence/snapshots/chunk-content.ts'
import type { Snapshot } from '../../../src/evidence/snapshots/make-snapshot.ts'
import { readLockerFiles } from '../../../src/evidence/snapshots/read-files.ts'
import { takeSnapshotHere } from '../../../src/evidence/snapshots/take-snapshot.ts'
import { takeSnapshotInThread } from '../../../src/evidence/snapshots/threads.ts'
import { anyFiles, fileNamed, hostileNames, manyFiles } from './snapshot-files.ts'
import { filesIn, objectOf, openTestLocker, type TestLocker } from './snapshot-locker.ts'

const FILES = 3000
const nameAt = (index: number) => `folder/${String(index).padStart(7, '0')}.txt`

forEachDatabase('a later snapshot', (database) => {
  let locker: TestLocker
  beforeAll(async () => {
    locker = await openTestLocker(database)
  })

  /** Takes a snapshot from the previous one and one from all files, and expects that they are equal. */
  async function takeBoth(changes = {}): Promise<Snapshot> {
    const request = { ...locker.request, ...changes }
    const next = await takeSnapshotHere(request)
    const last = await newestStated(locker)
    await locker.state(null)
    expect(next).toEqual(await takeSnapshotHere(request))
    await locker.state(last)
    return next as Snapshot
  }

  it('MERK-05 ATT-05 equals one that reads all files, after any changes', async () => {
    const names = fc.oneof(fc.nat(FILES + 50).map(nameAt), fc.constantFrom('!', '~~', ...hostileNames))
    const change = fc.oneof(
      fc.record({ put: fc.array(fc.tuple(names, fc.nat(2)), { minLength: 1, maxLength: 4 }) }),
      fc.record({ remove: fc.array(names, { minLength: 1, maxLength: 4 }) }),
      fc.record({ from: fc.nat(FILES), count: fc.integer({ min: 1, max: 600 }) }),
      fc.record({
        announce: fc.array(
          names.map((name) => `${name}-`),
          { minLength: 1, maxLength: 2 },
        ),
      }),
    )
    await locker.put(manyFiles(FILES))
    await locker.put(hostileNames.map(fileNamed))
    await locker.state(await takeSnapshotHere(locker.request))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        for (const made of changes) {
          if ('put' in made) {
            const files = new Map(made.put.map(([name, size]) => [name, { ...fileNamed(name), size_bytes: size }]))
            await locker.put([...files.values()])
          } else if ('remove' in made) await locker.remove(made.remove)
          else if ('announce' in made) await locker.announce([...new Set(made.announce)])
          else await locker.remove(Array.from({ length: made.count }, (_, i) => nameAt(made.from + i)))
        }
        const next = await takeBoth()
        await locker.state(next)
      }),
      { numRuns: 25 },
    )
  })

  it('EVID-02 EVID-20 reads files in the form that digests are computed over, equal to the stored chunks', async () => {
    const everyCharacter = Array.from({ length: 256 }, (_, code) => `name ${String.fromCharCode(code + 1)}`)
    await fc.assert(
      fc.asyncProperty(anyFiles, async (files) => {
        locker = await openTestLocker(database)
        await locker.put(files)
        const first = await locker.snapshot()
        await locker.state(first)
        expect((await takeBoth()).row).toEqual(first.row)
        const { previous, read, storedChunks, close } = await readLockerFiles(locker.db, database.url, locker.lockerId)
        const { text, contentTypes } = fileRowsOf(files)
        expect(await read([{ from: '', before: null }], 1000)).toEqual([
          expect.objectContaining({ text, contentTypes, listed: files.length, last: files.at(-1)!.filename }),
        ])
        const chunks = Array.from({ length: previous!.closedChunks }, (_, i) => previous!.chunk(i))
        const contents = await storedChunks(chunks.map(({ id }) => id))
        for (const [i, now] of (await read(chunks, 1000)).entries()) {
          expect(writeContent(now)).toBe(contents.get(chunks[i]!.id))
        }
        await close()
      }),
      { numRuns: 12, examples: [[sortedByFilename(everyCharacter.map(fileNamed))]] },
    )
  })

  describe('of a locker with several blocks', () => {
    let first: Snapshot
    beforeAll(async () => {
      locker = await openTestLocker(database)
      await locker.put(manyFiles(FILES))
      first = await locker.snapshot()
      await locker.state(first)
    })

    const write = (index: number, values: object) =>
      writable(locker.db)
        .updateTable('files')
        .set(values)
        .where('locker_id', '=', locker.lockerId)
        .where('filename', '=', nameAt(index))
        .execute()

    it.each([
      ['hash', { content_hash: `sha256:${'0'.repeat(64)}` }],
      ['hash, in another form', { content_hash: 'SHA-256' }],
      ['size', { size_bytes: 1_000_000_007 }],
      ['content type', { content_type: 'text/other' }],
      ['confirmation', { content_hash: null }],
    ])('MERK-04 ATT-05 detects a %s that was changed outside the gateway', async (_, values) => {
      const old = fileNamed(nameAt(1234))
      await write(1234, values)
      const next = await takeBoth()
      expect(next.key).not.toBe(first.key)
      expect(next.manifestVersion).toBe(first.manifestVersion)
      await write(1234, { size_bytes: old.size_bytes, content_hash: old.content_hash, content_type: old.content_type })
      expect((await takeBoth()).row).toEqual(first.row)
    })

    it('ATT-20 checks every file again, omits those whose bytes are gone, and includes them once they are back', async () => {
      await write(7, { provider_ref: 'tx 7' })
      const gone = [0, 1500, 2999].map((index) => objectOf(nameAt(index)).id)
      const asked = new Map<string, ObjectKey>()
      const findAbsent = async (objects: readonly ObjectKey[]) => {
        for (const object of objects) asked.set(object.id, object)
        return new Set(gone)
      }
      const next = await takeBoth({ findAbsent })
      expect(next).toMatchObject({ fileCount: FILES - 3, manifestFileCount: FILES })
      const inOrder = [...asked.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      expect(inOrder).toEqual(
        manyFiles(FILES).map(({ filename }, i) => ({ ...objectOf(filename), ref: i === 7 ? 'tx 7' : null })),
      )
      await locker.state(next)
      expect(await takeBoth({ findAbsent })).toEqual(next)
      expect((await takeBoth()).row).toEqual(first.row)
      await locker.state(first)
    })

    it('equals one from threads when a file is added anywhere', { tags: ['nightly'] }, async () => {
      for (const name of ['a', 'folder/0001500.txt, and one more', 'z']) {
        await locker.put([fileNamed(name)])
        const next = await takeBoth()
        expect(await takeSnapshotInThread(locker.request)).toEqual(next)
        await locker.remove([name])
      }
    })

    it('rewrites a missing or damaged chunk, and reads all files when the chunk list is damaged', async () => {
      const { chunk_list, block_nodes } = first.row
      const id = openChunkList(chunk_list).id(3)
      const chunk = writable(locker.db).updateTable('snapshot_chunks').where('chunk_id', '=', id)
      await chunk.set({ chunk_id: `not ${id}` }).execute()
      expect((await takeBoth()).row).toEqual(first.row)
      expect(await filesIn(locker.db, first)).toEqual(manyFiles(FILES))
      for (const damage of [
        { chunk_list: chunk_list.with(8, chunk_list[8]! ^ 1) },
        { chunk_list: chunk_list.with(-1, 0) },
        { block_nodes: block_nodes.with(5, block_nodes[5]! ^ 1) },
      ]) {
        const row = writable(locker.db).updateTable('snapshots').where('snapshot_key', '=', first.key)
        await row.set(damage).execute()
        expect((await takeBoth()).row).toEqual(first.row)
        await row.set({ chunk_list, block_nodes }).execute()
      }
    })
  })
})

async function newestStated({ db, lockerId }: TestLocker): Promise<Snapshot | null> {
  const row = await db
    .selectFrom('statements as s')
    .innerJoin('snapshots as n', 'n.snapshot_key', 's.snapshot_key')
    .selectAll('n')
    .where('s.locker_id', '=', lockerId)
    .executeTakeFirst()
  return row ? ({ key: row.snapshot_key, row } as Snapshot) : null
}
