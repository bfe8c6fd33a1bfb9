// Who creates and ends shares, and what else ends them.

import { createShare, endShare as endpoint, listShares, MAX_SHARES } from '@svc/api/shares'
import { forEachDatabase, forEachDatabaseInGate } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { toHex } from '@svc/protocol/bytes'
import { schemaCheck } from '@svc/service/http/validate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isFolder, nameOf } from '../../../../src/adapters/http/shares/find-share.ts'
import {
  deleteExpiredShares,
  deleteShare,
  findShare,
  insertShare,
  recordLastUse,
  sharesOfLocker,
} from '../../../../src/adapters/http/shares/store.ts'
import { sweepShares } from '../../../../src/adapters/http/shares/sweep-shares.ts'
import { migrations } from '../../../../src/db/migrations.ts'
import type { Schema, ShareTable } from '../../../../src/db/schema.ts'
import { answerOf, askShare, endShare, expectEnded, share, sharesOf, UNKNOWN_ID } from './shares.ts'

const HOUR = 3600

forEachDatabase('shares', (database) => {
  const [operator, other] = [ed25519Identity(), ed25519Identity()]
  const shared = () => ({ DATABASE_URL: database.url, SHORT_URL_KEY: '07'.repeat(32) })
  const instance = forAllTests(() => openTestGateway(shared()))
  const second = forAllTests(() => openTestGateway(shared()))
  const locker = forEachTest(async () => {
    const made = await instance.locker(ed25519Identity(), { operators: [operator, other] })
    await made.put('a.txt', 'one')
    await made.put('photos/b.txt', 'two')
    return made
  })

  const admin = async (method: string, path: string, body?: object) =>
    expect((await locker.call(['locker:admin'], method, path, body)).status).toBe(200)
  const remove = ({ identity }: Identity) => admin('DELETE', `/operators/${identity}`)
  const add = ({ identity: pubkey }: Identity) => admin('POST', '/operators', { pubkey })
  const read = async (id: string, filename = 'a.txt') =>
    (await answerOf(instance, `/v1/shares/${id}/f/${filename}`)).text
  const restrict = async (restriction: string) => {
    const path = `/v1/internal/operations/lockers/${locker.lockerId}/restriction`
    expect((await instance.send('PUT', path, { restriction, reason: 'order 17 of a court' })).status).toBe(200)
  }
  const rowOf = async (id: string) => {
    const { database, shareIds } = instance.gateway.context
    return findShare(database.db, shareIds.seedOf(id) as string)
  }
  const isoIn = (seconds: number) =>
    new Date((Math.floor(instance.clock.now() / 1000) + seconds) * 1000).toISOString().replace('.000', '')

  it('ADD-61 the owner shares a file, sees its address again, and ends it', async () => {
    const made = await share(locker, 'a.txt', { label: 'for Ada' })
    expect(schemaCheck(createShare.responses[200])(made)).toBeNull()
    expect(made).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      url: `${instance.gateway.context.config.http.baseUrl}/s/${made.id}`,
      path: 'a.txt',
      kind: 'file',
      label: 'for Ada',
      created_at: isoIn(0),
      created_by: locker.owner.identity,
      expires_at: isoIn(168 * HOUR),
      last_used_at: null,
    })
    const folder = await share(locker, 'photos/', { expires_in_hours: null })
    expect(folder).toMatchObject({ kind: 'folder', expires_at: null, label: null })
    const listed = await locker.call<object>(['locker:read'], 'GET', '/shares')
    expect(schemaCheck(listShares.responses[200])(listed.body)).toBeNull()
    expect((await sharesOf(locker)).map(({ id }) => id).sort()).toEqual([made.id, folder.id].sort())
    expect(await read(made.id)).toBe('one')
    const ended = await endShare(locker, made.id)
    expect([ended.status, schemaCheck(endpoint.responses[200])(ended.body)]).toEqual([200, null])
    await expectEnded(instance, made.id)
    expect(await sharesOf(locker)).toEqual([folder])
    expectRefusal(await endShare(locker, made.id), 404, 'SHARE_NOT_FOUND')
    expect(await read(folder.id, 'b.txt')).toBe('two')
  })

  it('ADD-61 T-28 operators share and end shares; others do neither, and a locker ends only its own', async () => {
    const own = await share(locker, 'a.txt', {}, operator)
    expect(own.created_by).toBe(operator.identity)
    expect(await sharesOf(locker, other)).toEqual([own])
    const unknown = ed25519Identity()
    expectRefusal(await askShare(locker, { path: 'a.txt' }, unknown), 403, 'SIGNATURE_INVALID')
    expectRefusal(await endShare(locker, own.id, unknown), 403, 'SIGNATURE_INVALID')
    expectRefusal(await locker.call(['locker:write'], 'POST', '/shares', { path: 'a.txt' }), 403, 'MISSING_OPS')
    const elsewhere = await instance.locker(unknown)
    expectRefusal(await endShare(elsewhere, own.id), 404, 'SHARE_NOT_FOUND')
    for (const id of ['x', '__proto__', UNKNOWN_ID]) expectRefusal(await endShare(locker, id), 404, 'SHARE_NOT_FOUND')
    expect(await read(own.id)).toBe('one')
    expect((await endShare(locker, own.id, other)).status).toBe(200)
  })

  it('ADD-61 an expired share opens nothing, is no longer listed, and is deleted by the sweep', async () => {
    const [short, long] = [await share(locker, 'a.txt', { expires_in_hours: 1 }), await share(locker, 'a.txt')]
    const forever = await share(locker, 'a.txt', { expires_in_hours: null })
    instance.clock.advance(HOUR - 1)
    expect(await read(short.id)).toBe('one')
    instance.clock.advance(1)
    onTestFinished(() => void instance.clock.advance(-HOUR))
    await expectEnded(instance, short.id)
    const listed = (await sharesOf(locker)).map(({ id }) => id)
    expect(listed.sort()).toEqual([long.id, forever.id].sort())
    await sweepShares(instance.gateway.context, new AbortController().signal)
    expect([await rowOf(short.id), await rowOf(long.id), await rowOf(forever.id)]).toEqual([
      null,
      expect.anything(),
      expect.anything(),
    ])
  })

  it('T-36 ADD-61 the shares of a removed operator end, even if the key is added again, and other shares continue', async () => {
    const own = await share(locker, 'a.txt', {}, operator)
    const kept = [await share(locker, 'a.txt'), await share(locker, 'a.txt', {}, other)]
    await remove(operator)
    await expectEnded(instance, own.id)
    expect((await sharesOf(locker)).map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort())
    await add(operator)
    await expectEnded(instance, own.id)
    for (const { id } of kept) expect(await read(id)).toBe('one')
    expect(await read((await share(locker, 'a.txt', {}, operator)).id)).toBe('one')
  })

  it('T-36 T-49 revoking everything ends all shares, and closing the public link ends none', async () => {
    const before = [await share(locker, 'a.txt'), await share(locker, 'a.txt', {}, operator)]
    await admin('POST', '/public-link', { action: 'close' })
    for (const { id } of before) expect(await read(id)).toBe('one')
    await admin('POST', '/revoke', {})
    for (const { id } of before) await expectEnded(instance, id)
    expect(await sharesOf(locker)).toEqual([])
    expect(await read((await share(locker, 'a.txt')).id)).toBe('one')
  })

  it('ADD-25 ADD-61 a frozen locker gets no new shares and serves the others; one that is taken down serves none', async () => {
    const made = await share(locker, 'a.txt')
    await restrict('frozen')
    expectRefusal(await askShare(locker, { path: 'a.txt' }), 423, 'LOCKER_FROZEN')
    expect(await read(made.id)).toBe('one')
    await restrict('taken_down')
    expectRefusal(await askShare(locker, { path: 'a.txt' }), 451, 'LOCKER_TAKEN_DOWN')
    for (const rest of ['', '/f/a.txt', '/proof/a.txt']) {
      const { status, text } = await answerOf(instance, `/v1/shares/${made.id}${rest}`)
      expect([status, JSON.parse(text).error]).toEqual([451, 'LOCKER_TAKEN_DOWN'])
    }
    expect((await answerOf(instance, `/s/${made.id}`)).status).toBe(451)
    expect(await sharesOf(locker)).toMatchObject([{ id: made.id }])
    await restrict('none')
    expect(await read(made.id)).toBe('one')
    await restrict('frozen')
    expect((await endShare(locker, made.id)).status).toBe(200)
  })

  it('ADD-61 a locker has at most 1000 shares, even if two gateways receive more requests; ended ones do not count', async () => {
    const { lockerId, owner, receiptId, put } = locker
    const row = (minted_by: string, expires_at: number | null): ShareTable => ({
      seed: toHex(crypto.getRandomValues(new Uint8Array(16))),
      locker_id: lockerId,
      path: 'a.txt',
      label: null,
      minted_by,
      minted_epoch: 0,
      created_at: 1,
      expires_at,
      last_used_at: null,
    })
    const rows = [
      ...Array.from({ length: MAX_SHARES - 5 }, () => row(owner.identity, null)),
      ...Array.from({ length: 5 }, () => row(operator.identity, null)),
      row(owner.identity, 2),
    ]
    await instance.gateway.context.database.commit(async (tx) => {
      for (const one of rows) await insertShare(tx, one)
    })
    expectRefusal(await askShare(locker, { path: 'a.txt' }), 409, 'SHARE_LIMIT_EXCEEDED')
    await remove(operator)
    const call: TestLocker['call'] = (ops, method, path, body) =>
      second.call(owner, { method, path: `/v1/lockers/${lockerId}${path}`, body, ops, lockerId, receiptId })
    const elsewhere: TestLocker = { lockerId, receiptId, owner, put, call }
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, i) => askShare(i % 2 ? locker : elsewhere, { path: 'a.txt' })),
    )
    const byStatus = Object.groupBy(asked, ({ status }) => status)
    expect([byStatus[200]?.length, byStatus[409]?.length]).toEqual([5, 3])
    const listed = await sharesOf(locker)
    expect(listed).toHaveLength(MAX_SHARES)
    expect((await endShare(locker, listed[0]!.id)).status).toBe(200)
    await share(locker, 'a.txt')
  })

  it('ADD-61 the last use is recorded within the hour, and by requests that the share answers', async () => {
    const made = await share(locker, 'a.txt')
    const lastUse = async () => (await rowOf(made.id))?.last_used_at ?? null
    await sharesOf(locker)
    expect(await lastUse()).toBeNull()
    const first = Math.floor(instance.clock.now() / 1000)
    await read(made.id)
    await expect.poll(lastUse).toBe(first)
    instance.clock.advance(HOUR / 2)
    await read(made.id)
    instance.clock.advance(HOUR / 2)
    onTestFinished(() => void instance.clock.advance(-HOUR))
    await read(made.id)
    await expect.poll(lastUse).toBe(first + HOUR)
    expect((await sharesOf(locker))[0]?.last_used_at).toBe(isoIn(0))
  })

  it('ADD-61 a copy of the database opens nothing without the key of the gateway', async () => {
    const made = await share(locker, 'a.txt')
    const row = await rowOf(made.id)
    expect(JSON.stringify(row)).not.toContain(made.id)
    const seedAsId = Buffer.from(row!.seed, 'hex').toString('base64url')
    await expectEnded(instance, seedAsId)
    const thief = await openTestGateway({ DATABASE_URL: database.url })
    onTestFinished(thief.close)
    await expectEnded(thief, made.id)
    expect(await read(made.id)).toBe('one')
  })

  it.each([
    ['a file that does not exist', { path: 'b.txt' }, 404, 'FILE_NOT_FOUND'],
    ['a name in another case', { path: 'A.txt' }, 404, 'FILE_NOT_FOUND'],
    ['a folder without files', { path: 'photo/' }, 404, 'FILE_NOT_FOUND'],
    ['a folder without its slash', { path: 'photos' }, 404, 'FILE_NOT_FOUND'],
    ['the whole locker', { path: '/' }, 422, 'validation_error'],
    ['a path upwards', { path: 'photos/../' }, 422, 'validation_error'],
    ['a path upwards to a file', { path: 'photos/../a.txt' }, 422, 'validation_error'],
    ['no path', {}, 422, 'validation_error'],
    ['an empty path', { path: '' }, 422, 'validation_error'],
    ['a path that no database accepts', { path: 'a\0' }, 422, 'validation_error'],
    ['no time', { path: 'a.txt', expires_in_hours: 0 }, 422, 'validation_error'],
    ['more than ten years', { path: 'a.txt', expires_in_hours: 87_601 }, 422, 'validation_error'],
    ['part of an hour', { path: 'a.txt', expires_in_hours: 1.5 }, 422, 'validation_error'],
    ['a label that is too long', { path: 'a.txt', label: 'l'.repeat(65) }, 422, 'validation_error'],
  ])('ADD-61 a share of %s is refused', async (_, body, status, code) => {
    expectRefusal(await askShare(locker, body), status, code)
    expect(await sharesOf(locker)).toEqual([])
  })

  it('ADD-61 a file without bytes cannot be shared', async () => {
    const body = { filename: 'empty.txt', content_type: 'text/plain' }
    expect((await locker.call(['locker:write'], 'POST', '/files', body)).status).toBe(200)
    expectRefusal(await askShare(locker, { path: 'empty.txt' }), 404, 'CONTENT_NOT_FOUND')
  })

  it('T-49 ADD-61 a path that names the receipt or the locker cannot be shared', async () => {
    for (const id of [locker.receiptId, locker.lockerId]) {
      await locker.put(`of-${id}/c.txt`, 'three')
      for (const path of [`of-${id}/`, `of-${id}/c.txt`])
        expectRefusal(await askShare(locker, { path }), 422, 'validation_error')
    }
  })
})

it('LIM-11 ADD-61 new shares count against the limit of the signer', async () => {
  const instance = await openTestGateway({ RATE_LIMITS: 'signer=2/min' })
  onTestFinished(instance.close)
  const locker = await instance.locker(ed25519Identity())
  await locker.put('a.txt', 'one')
  const statuses = [await askShare(locker, { path: 'a.txt' }), await askShare(locker, { path: 'a.txt' })]
  expect(statuses.at(-1)).toMatchObject({ status: 429 })
})

describe('the path of a share', () => {
  it.each([
    ['a.txt', false, 'a.txt'],
    ['photos/', true, 'photos'],
    ['photos/2026/b.txt', false, 'b.txt'],
    ['photos/2026/', true, '2026'],
  ])('ADD-61 %s has a kind and a name', (path, folder, name) => {
    expect([isFolder({ path }), nameOf({ path })]).toEqual([folder, name])
  })
})

forEachDatabaseInGate('the store of shares', (database) => {
  const row = (seed: string, changes: Partial<ShareTable> = {}): ShareTable => ({
    seed,
    locker_id: 'locker_1',
    path: 'a.txt',
    label: null,
    minted_by: 'owner',
    minted_epoch: 0,
    created_at: 100,
    expires_at: 200,
    last_used_at: null,
    ...changes,
  })

  async function opened(...shares: ShareTable[]) {
    const { db } = await database.openMigrated<Schema>(migrations)
    await writable(db).deleteFrom('shares').execute()
    await writable(db)
      .transaction()
      .execute(async (tx) => {
        for (const share of shares) await insertShare(tx, share)
      })
    return db
  }

  it('ADD-61 a share is found by its seed, listed with its locker oldest first, and inserted once', async () => {
    const db = await opened(row('B'), row('A'), row('0', { created_at: 101 }), row('C', { locker_id: 'locker_2' }))
    await insertShare(writable(db), row('A', { path: 'other.txt' }))
    expect(await findShare(db, 'A')).toEqual(row('A'))
    expect(await findShare(db, 'a')).toBeNull()
    expect((await sharesOfLocker(db, 'locker_1')).map(({ seed }) => seed)).toEqual(['A', 'B', '0'])
  })

  it('ADD-61 a share is deleted only by its own locker, and once', async () => {
    const db = await opened(row('A'))
    expect(await deleteShare(writable(db), 'locker_2', 'A')).toBe(false)
    expect(await deleteShare(writable(db), 'locker_1', 'A')).toBe(true)
    expect(await deleteShare(writable(db), 'locker_1', 'A')).toBe(false)
  })

  it('ADD-61 a last use is recorded unless a later one is stored', async () => {
    const db = await opened(row('A'))
    const lastUse = async () => (await findShare(db, 'A'))?.last_used_at
    await recordLastUse(writable(db), 'A', 5000, 1400)
    await recordLastUse(writable(db), 'A', 8599, 4999)
    expect(await lastUse()).toBe(5000)
    await recordLastUse(writable(db), 'A', 8600, 5000)
    expect(await lastUse()).toBe(8600)
  })

  it('ADD-61 expired shares are swept in batches, and those without an end stay', async () => {
    const expired = ['A', 'B', 'C'].map((seed) => row(seed, { expires_at: 150 }))
    const db = await opened(...expired, row('good', { expires_at: 151 }), row('forever', { expires_at: null }))
    for (const deleted of [2, 1, 0]) expect(await deleteExpiredShares(writable(db), 150, 2)).toBe(deleted)
    expect((await sharesOfLocker(db, 'locker_1')).map(({ seed }) => seed)).toEqual(['forever', 'good'])
  })
})
