import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { ProviderError, type StorageProvider } from '@svc/storage/provider'
import { redirecting, startRedirectingStore } from '@svc/storage/test/redirecting-store'
import { startTestGateway } from '@svc/testbed/gateway'
import { onlyProvider } from '@svc/testbed/only-provider'
import { beforeEach, describe, expect, it } from 'vitest'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { ed25519Identity, houseOf, type LockerHouse, openLockerHouse } from '../auth/lockers.ts'
import { confirm as confirmIn, watchedStorage } from '../files/confirm/confirm.ts'
import { lockerRow } from '../files/files.ts'
import { forAllTests, forEachTest } from '../for-tests.ts'
import { openTestSession } from './sessions/sessions.ts'
import { createFile, errorOf, leftovers, put, rawUpload, rowOf, sha256 } from './transfers.ts'

let isDown = false
let maxBytes = Number.POSITIVE_INFINITY
beforeEach(() => {
  isDown = false
  maxBytes = Number.POSITIVE_INFINITY
})

const storage = forAllTests(watchedStorage)
const local = () => storage.providers.named('gcs')
const store = forAllTests(() => startRedirectingStore({ provider: local(), now: () => house.clock.now() }))
const house: LockerHouse = forAllTests(() =>
  openLockerHouse({ STORAGE_DIR: storage.folder }, { providers: onlyProvider(failing(redirecting(local(), store))) }),
)
const operator = ed25519Identity()
const locker = forEachTest(() => house.locker(ed25519Identity(), { operators: [operator] }))

/** A store that can be made unavailable, and whose limit can be changed. */
function failing(provider: StorageProvider): StorageProvider {
  const unlessDown = <T>(target: () => Promise<T>): Promise<T> =>
    isDown ? Promise.reject(new ProviderError('unavailable', new Error('storage.example is down'))) : target()
  return {
    ...provider,
    uploadTarget: (...args) => unlessDown(() => provider.uploadTarget(...args)),
    downloadTarget: (...args) => unlessDown(() => provider.downloadTarget(...args)),
    stat: (...args) => unlessDown(() => provider.stat(...args)),
    get maxBytes() {
      return maxBytes
    },
  }
}

const confirm = (filename: string) => confirmIn<{ content_hash: string; error: string }>(house, locker, filename)
const get = (url: string, headers = {}) => fetch(url, { redirect: 'manual', headers })

/** Follows a redirect as a client does: with the same method, body and type. */
async function follow(response: Response, body: BodyInit, contentType = 'text/plain'): Promise<Response> {
  expect(response.status).toBe(307)
  return put(response.headers.get('location') as string, body, { 'content-type': contentType })
}

const idOf = (sent: Response) => new URL(sent.headers.get('location') as string).pathname.slice(1)

async function sweepAfterTwoDays(): Promise<void> {
  house.clock.advance(49 * 3600)
  while ((await sweepObjects(house.gateway.rooms.files)) > 0);
}

it('SHORT-09 AMB-61 an upload is redirected by 307 with the locked type, and counts once it is confirmed', async () => {
  const { upload, download } = await createFile(house, locker, 'sent.txt', { contentType: 'text/plain; charset=utf-8' })
  const sent = await put(upload, 'ignored', { 'content-type': 'text/plain;charset=UTF-8' })
  expect(Object.fromEntries(sent.headers)).toMatchObject({
    location: expect.stringMatching(new RegExp(`^${store.url}/[0-9a-f]{32}\\?`)),
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '0',
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    'access-control-allow-origin': '*',
  })
  expect([sent.status, await sent.text()]).toEqual([307, ''])
  expect(await errorOf(await get(download))).toEqual([404, 'CONTENT_NOT_FOUND'])
  expect((await confirm('sent.txt')).status).toBe(404)
  expect((await follow(sent, 'hello', 'text/plain; charset=utf-8')).status).toBe(200)
  expect((await confirm('sent.txt')).body).toMatchObject({ content_hash: `sha256:${sha256('hello')}` })
  expect(await rowOf(house, locker, 'sent.txt')).toMatchObject({ upload_object_id: null, size_bytes: 5 })
})

it('SHORT-09 AMB-61 a redirected upload must have the locked type at the provider too', async () => {
  const { upload } = await createFile(house, locker, 'typed.txt')
  expect((await follow(await put(upload, ''), 'x', 'text/html')).status).toBe(403)
})

it('SHORT-10 only proxy=1 keeps an upload from being redirected', async () => {
  const { upload } = await createFile(house, locker, 'proxied.txt')
  expect((await put(`${upload}?proxy=1`, 'hello')).status).toBe(200)
  expect((await confirm('proxied.txt')).body.content_hash).toBe(`sha256:${sha256('hello')}`)
  for (const query of ['?proxy=0', '?proxy=', '?proxy=true', '?proxy=11', '?other=1']) {
    expect((await put(upload + query, 'hello')).status).toBe(307)
  }
  expect((await put(`${upload}?proxy=1&proxy=1`, 'hello')).status).toBe(422)
})

it('SHORT-09 an upload is redirected before its body arrives', async () => {
  const { upload } = await createFile(house, locker, 'unsent.txt')
  const socket = rawUpload(upload, ['Content-Type: text/plain', 'Content-Length: 1000000000'])
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 307 /)
})

it('AMB-47 SHORT-06 SHORT-07 an invalid upload is refused, not redirected', async () => {
  const { upload } = await createFile(house, locker, 'refused.txt')
  const before = await leftovers(house.gateway)
  expect((await put(`${upload}A`, 'x')).status).toBe(403)
  expect((await put(upload, 'x', { 'content-type': 'text/html' })).status).toBe(403)
  expect((await put(upload, 'x', { 'content-encoding': 'gzip' })).status).toBe(415)
  const socket = rawUpload(upload, ['Content-Type: text/plain', `Content-Length: ${1024 ** 5}`])
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /)
  expect(await leftovers(house.gateway)).toEqual(before)
})

it('AMB-24 a redirected upload replaces the file only after it arrives', async () => {
  const { upload, download } = await createFile(house, locker, 'replaced.txt')
  await put(`${upload}?proxy=1`, 'old')
  await confirm('replaced.txt')
  const sent = await put(upload, '')
  expect(await (await fetch(download)).text()).toBe('old')
  await follow(sent, 'new!')
  expect(await (await fetch(download)).text()).toBe('new!')
  expect((await rowOf(house, locker, 'replaced.txt')).content_hash).toBeNull()
  expect((await confirm('replaced.txt')).body.content_hash).toBe(`sha256:${sha256('new!')}`)
})

it('AMB-24 a redirected upload does not replace a later upload through the gateway', async () => {
  const { upload, download } = await createFile(house, locker, 'later.txt')
  await follow(await put(upload, ''), 'sent on')
  await put(`${upload}?proxy=1`, 'through the gateway')
  expect(await (await fetch(download)).text()).toBe('through the gateway')
})

it('T-190 ADD-60 bytes that have arrived unread are not replaced by an upload that may not replace any', async () => {
  const { upload, download } = await createFile(house, locker, 'arrived.txt')
  const files = [{ filename: 'arrived.txt', overwrite: false }]
  const session = await openTestSession(house, locker, { files })
  expect((await session.raw(0, 'mine')).status).toBe(200)
  await follow(await put(upload, ''), 'theirs')
  const refused = { status: 'failed', files: [{ ok: false, error: 'PRECONDITION_FAILED' }] }
  expect((await session.finalize()).body).toMatchObject(refused)
  expect(await (await fetch(download)).text()).toBe('theirs')
})

it('T-50 AMB-61 a direct upload keeps the type that it was sent with when the file is created anew', async () => {
  const { upload, download } = await createFile(house, locker, 'retyped')
  const sent = await put(upload, '')
  await createFile(house, locker, 'retyped', { contentType: 'text/html' })
  await follow(sent, 'plain')
  const head = await fetch(download, { method: 'HEAD' })
  expect(head.headers.get('content-type')).toBe('text/plain')
})

it('T-50 a provider that cannot be asked does not make the sweep remove a direct upload', async () => {
  const { upload } = await createFile(house, locker, 'unasked.txt')
  await follow(await put(upload, ''), 'accepted')
  isDown = true
  await sweepAfterTwoDays()
  isDown = false
  expect((await confirm('unasked.txt')).body.content_hash).toBe(`sha256:${sha256('accepted')}`)
})

it.each([
  ['revoked', () => locker.call(['locker:admin'], 'POST', '/revoke')],
  ['removed', () => locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)],
])(
  'T-50 T-36 bytes that the provider accepted before a key was %s become the file, later ones never',
  async (_, end) => {
    const { upload, download } = await createFile(house, locker, 'a.txt', {}, operator)
    const [accepted, late] = [await put(upload, ''), await put(upload, '')]
    expect((await follow(accepted, 'hello')).status).toBe(200)
    expect((await end()).status).toBe(200)
    await follow(late, 'defaced')
    expect((await confirm('a.txt')).body).toMatchObject({ content_hash: `sha256:${sha256('hello')}` })
    expect(await errorOf(await put(upload, 'again'))).toEqual([403, 'SHORT_URL_INVALID'])
    expect((await get(download)).status).toBe(403)
    await locker.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
    await sweepAfterTwoDays()
    expect(await rowOf(house, locker, 'a.txt')).toMatchObject({ object_id: idOf(accepted), upload_object_id: null })
    expect((await leftovers(house.gateway)).onDisk).not.toContain(idOf(late))
  },
)

it('T-50 SHORT-08 what is written to the address of a deleted file, even again, is swept', async () => {
  const { upload, remove } = await createFile(house, locker, 'deleted.txt')
  const [sent, unread] = [await put(upload, ''), await put(upload, '')]
  await follow(sent, 'hello')
  expect((await confirm('deleted.txt')).status).toBe(200)
  expect((await fetch(remove, { method: 'DELETE' })).status).toBe(200)
  const ids = [sent, unread].map(idOf)
  const left = async () => (await leftovers(house.gateway)).onDisk.filter((id) => ids.includes(id))
  expect(await left()).toEqual([])
  for (const one of [sent, unread]) await follow(one, 'back again')
  expect(await left()).toHaveLength(2)
  await sweepAfterTwoDays()
  expect(await left()).toEqual([])
  expect((await leftovers(house.gateway)).writing.filter((id) => ids.includes(id))).toEqual([])
})

it('AMB-47 T-50 a direct upload over the limit is refused when it is confirmed, and removed', async () => {
  const { upload } = await createFile(house, locker, 'huge.txt')
  await put(`${upload}?proxy=1`, 'good')
  const sent = await put(upload, '')
  await follow(sent, 'too much')
  maxBytes = 7
  const refused = await confirm('huge.txt')
  expect([refused.status, refused.body.error]).toEqual([413, 'UPLOAD_TOO_LARGE'])
  expect((await confirm('huge.txt')).body.content_hash).toBe(`sha256:${sha256('good')}`)
  expect((await leftovers(house.gateway)).onDisk).not.toContain(idOf(sent))
})

it.each([
  ['five minutes at most', 1440, 0, 301],
  ['no longer than its short URL', 30, 1000, 800],
])('SHORT-07 T-36 the address of a provider works for %s', async (_, ttl_min, before, after) => {
  const { upload } = await createFile(house, locker, 'brief.txt', { ttl_min })
  house.clock.advance(before)
  const sent = await put(upload, '')
  house.clock.advance(after)
  expect((await follow(sent, 'x')).status).toBe(403)
})

describe('a direct upload where terms are enforced', () => {
  const strict = forEachTest(async () => {
    const providers = onlyProvider(redirecting(local(), store))
    const variables = { STORAGE_DIR: storage.folder, ENFORCE_TERMS: 'true' }
    return houseOf(await startTestGateway(variables, { providers, now: house.clock.now }), house.clock)
  })
  const small = forEachTest(() => strict.locker(ed25519Identity()))
  const db = () => strict.gateway.context.database.db
  const sweep = () => sweepObjects(strict.gateway.rooms.files)
  const fill = async (filename: string, bytes = 'x'.repeat(600)) =>
    put((await createFile(strict, small, filename)).upload, bytes)

  async function limit(storage_limit_bytes: number): Promise<void> {
    const { terms } = await lockerRow(strict, small)
    const changed = JSON.stringify({ ...JSON.parse(terms), storage_limit_bytes })
    await db().updateTable('lockers').set({ terms: changed }).execute()
  }

  it('T-182 counts as promised until it arrives, and is removed if it is more than was promised', async () => {
    await limit(1000)
    const promised = await fill('a')
    expect(promised.status).toBe(307)
    expect([(await fill('b')).status, (await fill('c', 'y'.repeat(400))).status]).toEqual([200, 200])
    expect((await follow(promised, 'z'.repeat(5000))).status).toBe(200)
    house.clock.advance(601)
    await sweep()
    expect(await rowOf(strict, small, 'a')).toMatchObject({ object_id: null, upload_object_id: null })
    expect(await errorOf(await fill('d', 'w'))).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])
  })

  it('T-182 T-189 that never arrives is looked for less and less often, and counts until it was looked for', async () => {
    await limit(1000)
    expect([(await fill('a')).status, (await fill('b', 'y'.repeat(500))).status]).toEqual([307, 200])
    const lookAt = async () =>
      (await db().selectFrom('direct_uploads').select('look_at').executeTakeFirstOrThrow()).look_at!
    const first = await lookAt()
    house.clock.advance(700)
    await sweep()
    expect((await lookAt()) - first).toBe(800)
    house.clock.advance(3600)
    await limit(1600)
    expect((await fill('c')).status).toBe(307)
    // However late that is.
    house.clock.advance(3601)
    expect((await fill('d')).status).toBe(200)
    await sweep()
    await limit(1700)
    expect((await fill('e')).status).toBe(307)
  })

  it('T-182 is not begun any more for a locker with a thousand that never arrived', async () => {
    expect((await fill('a')).status).toBe(307)
    const awaited = await db().selectFrom('direct_uploads').selectAll().executeTakeFirstOrThrow()
    const object = await db().selectFrom('objects').selectAll().executeTakeFirstOrThrow()
    const ids = Array.from({ length: 1000 }, (_, i) => String(i).padStart(32, '0'))
    await db()
      .insertInto('objects')
      .values(ids.map((object_id) => ({ ...object, object_id })))
      .execute()
    const uploads = ids.map((object_id, position) => ({ ...awaited, object_id, filename: 'never', position }))
    await db().insertInto('direct_uploads').values(uploads).execute()
    expect((await fill('h')).status).toBe(200)
  })
})

it('ADD-20 a download on a condition is not redirected, since the provider has other tags, but goes on where it began', async () => {
  const { upload, download } = await createFile(house, locker, 'conditional.txt')
  await put(`${upload}?proxy=1`, 'hello')
  await confirm('conditional.txt')
  const etag = `"sha256:${sha256('hello')}"`
  for (const condition of ['if-match', 'if-range']) {
    const rest = await get(download, { [condition]: etag, range: 'bytes=1-' })
    expect([rest.status, await rest.text()]).toEqual([206, 'ello'])
  }
  expect(await errorOf(await get(download, { 'if-match': '"other"' }))).toEqual([412, 'PRECONDITION_FAILED'])
  expect((await get(download, { 'if-range': '"tag of the provider"', range: 'bytes=1-' })).status).toBe(307)
})

it('SHORT-09 AMB-61 a download is redirected by 307 with the stored type; HEAD and the public link are not redirected', async () => {
  const bytes = randomBytes(1000)
  const { upload, download } = await createFile(house, locker, 'fetched.bin', { contentType: 'image/png' })
  await put(`${upload}?proxy=1`, bytes, { 'content-type': 'image/png' })
  await confirm('fetched.bin')
  const sent = await get(download, { range: 'bytes=0-1' })
  expect(Object.fromEntries(sent.headers)).toMatchObject({
    location: expect.stringMatching(new RegExp(`^${store.url}/`)),
    'content-type': 'image/png',
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
  })
  expect(sent.status).toBe(307)
  const fetched = await fetch(sent.headers.get('location') as string)
  expect([fetched.headers.get('content-type'), sha256(new Uint8Array(await fetched.arrayBuffer()))]).toEqual([
    'image/png',
    sha256(bytes),
  ])
  const head = await fetch(download, { method: 'HEAD', redirect: 'manual' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000'])
  const link = await get(`${house.gateway.url}/v1/r/${locker.receiptId}/f/fetched.bin`)
  expect([link.status, sha256(new Uint8Array(await link.arrayBuffer()))]).toEqual([200, sha256(bytes)])
})

it('GEN-11 T-31 an unavailable store is 503 without its name', async () => {
  const { upload, download } = await createFile(house, locker, 'away.txt')
  await put(`${upload}?proxy=1`, 'hello')
  isDown = true
  for (const attempt of [() => put(upload, 'x'), () => get(download)]) {
    const response = await attempt()
    const body = await response.text()
    expect([response.status, JSON.parse(body).error]).toEqual([503, 'STORAGE_UNAVAILABLE'])
    expect(JSON.parse(body).details.layer).toBe('provider')
    expect(body).not.toMatch(/storage\.example|gcs|127\.0\.0\.1/)
  }
  expect((await put(`${upload}?proxy=1`, 'still')).status).toBe(200)
})
