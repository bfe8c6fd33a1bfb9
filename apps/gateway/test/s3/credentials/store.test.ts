import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { migrations } from '../../../src/db/migrations.ts'
import type { Locker, S3KeyTable, Schema } from '../../../src/db/schema.ts'
import { deleteS3Key } from '../../../src/lockers/store.ts'
import {
  countWorkingKeys,
  createKeyFinder,
  deleteExpiredKeys,
  insertKey,
  keysOfLocker,
  noteLastUse,
} from '../../../src/s3/credentials/store.ts'

forEachDatabaseInGate('the store of S3 keys', (database) => {
  const key = (id: string, changes: Partial<S3KeyTable> = {}): S3KeyTable => ({
    access_key_id: id,
    locker_id: 'locker_1',
    name: 'backup',
    access: 'read',
    prefix: '',
    minted_by: 'owner',
    minted_epoch: 0,
    created_at: 100,
    expires_at: 200,
    last_used_at: null,
    ...changes,
  })

  async function opened(...keys: S3KeyTable[]) {
    const { db } = await database.openMigrated<Schema>(migrations)
    await db.deleteFrom('s3_keys').execute()
    await db.transaction().execute(async (tx) => {
      for (const row of keys) await insertKey(tx, row)
    })
    return db
  }

  it('ADD-42 a key is found by its id, and listed with its locker until it expires', async () => {
    const db = await opened(key('B'), key('A'), key('0', { created_at: 101 }), key('C', { locker_id: 'locker_2' }))
    expect(await createKeyFinder(db)('A')).toEqual(key('A'))
    expect(await createKeyFinder(db)('a')).toBeNull()
    const idsAt = async (now: number) => (await keysOfLocker(db, 'locker_1', now)).map((row) => row.access_key_id)
    expect(await idsAt(199)).toEqual(['A', 'B', '0'])
    expect(await idsAt(200)).toEqual([])
  })

  it('ADD-42 a key is deleted by its own locker only, and once', async () => {
    const db = await opened(key('A'))
    expect(await deleteS3Key(db, 'locker_2', 'A')).toBe(false)
    expect(await deleteS3Key(db, 'locker_1', 'A')).toBe(true)
    expect(await deleteS3Key(db, 'locker_1', 'A')).toBe(false)
  })

  it('ADD-42 keys that have expired or were revoked with everything else do not count, and go', async () => {
    const old = key('old', { expires_at: 150 })
    const revoked = key('revoked', { minted_epoch: 1 })
    const good = key('good', { minted_epoch: 2 })
    const db = await opened(old, revoked, good, key('other', { locker_id: 'locker_2', expires_at: 1 }))
    const locker = { locker_id: 'locker_1', revoked_before: 2 } as Locker
    expect(await db.transaction().execute((tx) => countWorkingKeys(tx, locker, 150))).toBe(1)
    expect((await db.selectFrom('s3_keys').select('access_key_id').orderBy('access_key_id').execute()).length).toBe(2)
    expect(await createKeyFinder(db)('good')).not.toBeNull()
  })

  it('ADD-42 a last use is noted unless a later one than asked about is there', async () => {
    const db = await opened(key('A'))
    const lastUse = async () => (await createKeyFinder(db)('A'))?.last_used_at
    await noteLastUse(db, 'A', 5000, 1400)
    expect(await lastUse()).toBe(5000)
    await noteLastUse(db, 'A', 8599, 4999)
    expect(await lastUse()).toBe(5000)
    await noteLastUse(db, 'A', 8600, 5000)
    expect(await lastUse()).toBe(8600)
  })

  it('ADD-42 expired keys are swept in batches', async () => {
    const expired = ['A', 'B', 'C'].map((id) => key(id, { expires_at: 150 }))
    const db = await opened(...expired, key('good', { expires_at: 151 }))
    expect(await deleteExpiredKeys(db, 150, 2)).toBe(2)
    expect(await deleteExpiredKeys(db, 150, 2)).toBe(1)
    expect(await deleteExpiredKeys(db, 150, 2)).toBe(0)
    expect(await createKeyFinder(db)('good')).not.toBeNull()
  })
})
