import { createS3Key, listS3Keys, revokeS3Key } from '@svc/api/s3-credentials'
import { forEachDatabase, forEachDatabaseInGate } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { schemaCheck } from '@svc/service/http/validate'
import { createLog } from '@svc/service/program/log'
import { expect, it, onTestFinished } from 'vitest'
import { secretOfKey } from '../../../../src/adapters/s3/credentials/key-rows.ts'
import {
  countWorkingKeys,
  createKeyFinder,
  deleteExpiredKeys,
  insertKey,
  keysOfLocker,
  recordLastUse,
} from '../../../../src/adapters/s3/credentials/store.ts'
import { sweepKeys } from '../../../../src/adapters/s3/credentials/sweep-keys.ts'
import { migrations } from '../../../../src/db/migrations.ts'
import type { Locker, S3KeyTable, Schema } from '../../../../src/db/schema.ts'
import { deleteS3Key } from '../../../../src/lockers/store.ts'
import { askKey, expectSuccess, findScope, KEY, listKeys, revokeKey } from './credentials-gateway.ts'

const DAY = 86_400

forEachDatabase('long-lived S3 keys', (database) => {
  const operator = ed25519Identity()
  const shared = () => ({ DATABASE_URL: database.url, SHORT_URL_KEY: '07'.repeat(32) })
  /** The log lines, except those of requests. */
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = createLog('info', { write, writeSoon: () => {}, flush: () => {} })
  const instance = forAllTests(() => openTestGateway(shared(), { log }))
  const second = forAllTests(() => openTestGateway(shared()))
  const locker = forEachTest(() => instance.locker(ed25519Identity(), { operators: [operator] }))

  it('ADD-42 an owner makes, lists and revokes keys; the secret is shown once; each change is logged', async () => {
    const made = expectSuccess(await askKey(locker, { prefix: 'a/' }))
    expect(schemaCheck(createS3Key.responses[200])(made)).toBeNull()
    const { secret_access_key, endpoint: _, region: _region, bucket, ...shown } = made
    expect(shown).toMatchObject({ name: 'backup', access: 'write', prefix: 'a/', last_used_at: null })
    expect(bucket).toBe(locker.lockerId)
    expect(secret_access_key).toMatch(/^[A-Za-z0-9_-]{40}$/)
    const expiresAt = Math.floor(instance.clock.now() / 1000) + 30 * DAY
    const scope = { lockerId: locker.lockerId, access: 'write', prefix: 'a/', expiresAt }
    expect(await findScope(instance, shown)).toMatchObject({ secret: secret_access_key, ...scope })
    const listed = await locker.call<object>(['locker:admin'], 'GET', '/s3/keys')
    expect(schemaCheck(listS3Keys.responses[200])(listed.body)).toBeNull()
    expect(listed.body).toEqual({ locker_id: locker.lockerId, keys: [shown], count: 1 })
    const revoked = await revokeKey(locker, shown.access_key_id)
    expect(schemaCheck(revokeS3Key.responses[200])(expectSuccess(revoked))).toBeNull()
    const logged = lines.map((line) => JSON.parse(line)).filter(({ locker_id }) => locker_id === locker.lockerId)
    const key = { access_key_id: shown.access_key_id, time: expect.any(String) }
    expect(logged).toEqual([
      expect.objectContaining({ ...key, access: 'write', prefix: 'a/', msg: 'created an S3 key' }),
      expect.objectContaining({ ...key, msg: 'revoked an S3 key' }),
    ])
    expect(lines.join('')).not.toContain(secret_access_key)
    expect(await findScope(instance, shown)).toBeNull()
    expect(await listKeys(locker)).toEqual([])
    expectRefusal(await revokeKey(locker, shown.access_key_id), 404, 'S3_KEY_NOT_FOUND')
  })

  it('T-95 only the owner makes, sees and revokes keys', async () => {
    const { access_key_id } = expectSuccess(await askKey(locker))
    expectRefusal(await askKey(locker, {}, operator), 403, 'OWNER_REQUIRED')
    const asOperator = (method: string, path: string) =>
      locker.call(['locker:admin'], method, path, undefined, operator)
    expectRefusal(await asOperator('GET', '/s3/keys'), 403, 'OWNER_REQUIRED')
    expectRefusal(await asOperator('DELETE', `/s3/keys/${access_key_id}`), 403, 'OWNER_REQUIRED')
    const other = await instance.locker(ed25519Identity())
    expectRefusal(await revokeKey(other, access_key_id), 404, 'S3_KEY_NOT_FOUND')
    for (const id of ['x', 'SVCK', '__proto__']) expectRefusal(await revokeKey(locker, id), 404, 'S3_KEY_NOT_FOUND')
    expect(await listKeys(locker)).toHaveLength(1)
  })

  it('T-95 a database dump contains no secret, and none can be derived without the key of the gateway', async () => {
    const made = expectSuccess(await askKey(locker))
    const db = instance.gateway.context.database.db
    const row = await createKeyFinder(db)(made.access_key_id)
    expect(JSON.stringify(row)).not.toContain(made.secret_access_key)
    const thief = await openTestGateway({ DATABASE_URL: database.url })
    onTestFinished(thief.close)
    expect(await findScope(thief, made)).toBeNull()
    expect(secretOfKey(thief.gateway.context.credentialKeys, row!)).not.toBe(made.secret_access_key)
  })

  it.each([
    ['another locker', { locker_id: 'locker_000000000000' }],
    ['more access', { access: 'write' as const }],
    ['the whole locker', { prefix: '' }],
    ['a longer life', { expires_at: 9_000_000_000 }],
    ['another epoch', { minted_epoch: 9 }],
    ['another maker', { minted_by: 'somebody' }],
  ])('T-95 editing the database row for %s changes the secret', async (_, changes) => {
    const made = expectSuccess(await askKey(locker, { access: 'read', prefix: 'a/' }))
    const { db } = instance.gateway.context.database
    await writable(db).updateTable('s3_keys').set(changes).where('access_key_id', '=', made.access_key_id).execute()
    expect((await findScope(instance, made))?.secret).not.toBe(made.secret_access_key)
  })

  it('ADD-42 an expired key stops working, is no longer listed, and is deleted by the sweep', async () => {
    const made = expectSuccess(await askKey(locker, { expires_in_days: 1 }))
    instance.clock.advance(DAY - 1)
    expect(await findScope(instance, made)).not.toBeNull()
    instance.clock.advance(1)
    onTestFinished(() => void instance.clock.advance(-DAY))
    expect(await findScope(instance, made)).toBeNull()
    expect(await listKeys(locker)).toEqual([])
    await sweepKeys(instance.gateway.context, new AbortController().signal)
    expect(await createKeyFinder(instance.gateway.context.database.db)(made.access_key_id)).toBeNull()
  })

  it('T-95 revoking everything ends and unlists all keys, and later keys work', async () => {
    expectSuccess(await askKey(locker))
    expectSuccess(await locker.call(['locker:admin'], 'POST', '/revoke', {}))
    expect(await listKeys(locker)).toEqual([])
    const later = expectSuccess(await askKey(locker, { name: 'later' }))
    expect((await listKeys(locker)).map(({ access_key_id }) => access_key_id)).toEqual([later.access_key_id])
  })

  it('T-95 a locker has at most 100 keys, even if two gateways receive more requests concurrently', async () => {
    const { lockerId, receiptId, owner, put } = locker
    const call: TestLocker['call'] = (ops, method, path, body) =>
      second.call(owner, { method, path: `/v1/lockers/${lockerId}${path}`, body, ops, lockerId, receiptId })
    const elsewhere: TestLocker = { lockerId, receiptId, owner, put, call }
    const asked = await Promise.all(Array.from({ length: 110 }, (_, i) => askKey(i % 2 ? locker : elsewhere)))
    const byStatus = Object.groupBy(asked, ({ status }) => status)
    expect([byStatus[200]?.length, byStatus[409]?.length]).toEqual([100, 10])
    expectRefusal(await askKey(locker), 409, 'S3_KEY_LIMIT_EXCEEDED')
    const [first] = await listKeys(locker)
    expectSuccess(await revokeKey(locker, first?.access_key_id as string))
    expectSuccess(await askKey(locker))
    expectSuccess(await locker.call(['locker:admin'], 'POST', '/revoke', {}))
    expectSuccess(await askKey(locker))
  })

  it.each([
    ['a name that is too long', { name: 'n'.repeat(65) }],
    ['a name that no database accepts', { name: 'a\0' }],
    ['more than a year', { expires_in_days: 366 }],
    ['a prefix that is not a folder', { prefix: 'photos' }],
  ])('T-95 a key with %s is refused', async (_, changes) => {
    expectRefusal(await askKey(locker, { ...KEY, ...changes }), 422, 'validation_error')
    expect(await listKeys(locker)).toEqual([])
  })

  it('T-95 a frozen locker gets no new keys, and its keys can be revoked', async () => {
    const { access_key_id } = expectSuccess(await askKey(locker))
    const path = `/v1/internal/operations/lockers/${locker.lockerId}/restriction`
    expectSuccess(await instance.send('PUT', path, { restriction: 'frozen', reason: 'order 17 of a court' }))
    expectRefusal(await askKey(locker), 423, 'LOCKER_FROZEN')
    expect(await listKeys(locker)).toHaveLength(1)
    expectSuccess(await revokeKey(locker, access_key_id))
  })
})

forEachDatabaseInGate('the store of S3 keys', (database) => {
  const key = (id: string, changes: Partial<S3KeyTable> = {}): S3KeyTable => ({
    access_key_id: id,
    locker_id: 'locker_1',
    name: 'backup',
    access: 'read',
    prefix: '',
    minted_by: 'owner',
    minted_epoch: 0,
    minted_epochs: null,
    created_at: 100,
    expires_at: 200,
    last_used_at: null,
    ...changes,
  })

  async function opened(...keys: S3KeyTable[]) {
    const { db } = await database.openMigrated<Schema>(migrations)
    await writable(db).deleteFrom('s3_keys').execute()
    await writable(db)
      .transaction()
      .execute(async (tx) => {
        for (const row of keys) await insertKey(tx, row)
      })
    return db
  }

  it('ADD-42 a key is found by its id, and is listed with its locker until it expires', async () => {
    const db = await opened(key('B'), key('A'), key('0', { created_at: 101 }), key('C', { locker_id: 'locker_2' }))
    expect(await createKeyFinder(db)('A')).toEqual(key('A'))
    expect(await createKeyFinder(db)('a')).toBeNull()
    const idsAt = async (now: number) => (await keysOfLocker(db, 'locker_1', now)).map((row) => row.access_key_id)
    expect(await idsAt(199)).toEqual(['A', 'B', '0'])
    expect(await idsAt(200)).toEqual([])
  })

  it('ADD-42 a key is deleted only by its own locker, and once', async () => {
    const db = await opened(key('A'))
    expect(await deleteS3Key(writable(db), 'locker_2', 'A')).toBe(false)
    expect(await deleteS3Key(writable(db), 'locker_1', 'A')).toBe(true)
    expect(await deleteS3Key(writable(db), 'locker_1', 'A')).toBe(false)
  })

  it('ADD-42 keys that expired or were revoked with everything else do not count and are removed', async () => {
    const old = key('old', { expires_at: 150 })
    const revoked = key('revoked', { minted_epoch: 1 })
    const good = key('good', { minted_epoch: 2 })
    const db = await opened(old, revoked, good, key('other', { locker_id: 'locker_2', expires_at: 1 }))
    const locker = { locker_id: 'locker_1', revoked_before: 2 } as Locker
    expect(
      await writable(db)
        .transaction()
        .execute((tx) => countWorkingKeys(tx, locker, 150)),
    ).toBe(1)
    expect((await db.selectFrom('s3_keys').select('access_key_id').orderBy('access_key_id').execute()).length).toBe(2)
    expect(await createKeyFinder(db)('good')).not.toBeNull()
  })

  it('ADD-42 a last use is recorded unless a later one is stored', async () => {
    const db = await opened(key('A'))
    const lastUse = async () => (await createKeyFinder(db)('A'))?.last_used_at
    await recordLastUse(writable(db), 'A', 5000, 1400)
    expect(await lastUse()).toBe(5000)
    await recordLastUse(writable(db), 'A', 8599, 4999)
    expect(await lastUse()).toBe(5000)
    await recordLastUse(writable(db), 'A', 8600, 5000)
    expect(await lastUse()).toBe(8600)
  })

  it('ADD-42 expired keys are swept in batches', async () => {
    const expired = ['A', 'B', 'C'].map((id) => key(id, { expires_at: 150 }))
    const db = await opened(...expired, key('good', { expires_at: 151 }))
    expect(await deleteExpiredKeys(writable(db), 150, 2)).toBe(2)
    expect(await deleteExpiredKeys(writable(db), 150, 2)).toBe(1)
    expect(await deleteExpiredKeys(writable(db), 150, 2)).toBe(0)
    expect(await createKeyFinder(db)('good')).not.toBeNull()
  })
})
