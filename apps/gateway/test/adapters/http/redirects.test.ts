import { once } from 'node:events'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { ed25519Identity, expectRefusal, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { ProviderError, type StorageProvider } from '@svc/storage/provider'
import { redirecting, startRedirectingStore } from '@svc/storage/test/redirecting-store'
import { beforeEach, describe, expect, it } from 'vitest'
import { sweepObjects } from '../../../src/files/sweep-objects.ts'
import { confirm as confirmIn, watchedStorage } from '../../files/confirm/confirm.ts'
import { limitBytes } from '../../files/files.ts'
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
const store = forAllTests(() => startRedirectingStore({ provider: local(), now: () => instance.clock.now() }))
const instance: TestGateway = forAllTests(() =>
  openTestGateway({ STORAGE_DIR: storage.folder }, { providers: onlyProvider(failing(redirecting(local(), store))) }),
)
const operator = ed25519Identity()
const locker = forEachTest(() => instance.locker(ed25519Identity(), { operators: [operator] }))

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

const urls = forEachTest(() => createFile(instance, locker, 'a.txt'))
const confirm = () => confirmIn<{ content_hash: string; error: string }>(instance, locker, 'a.txt')
const expectConfirmed = async (text: string) =>
  expect((await confirm()).body).toMatchObject({ content_hash: `sha256:${sha256(text)}` })
const get = (url: string, headers = {}) => fetch(url, { redirect: 'manual', headers })
const textOf = async (url: string) => (await fetch(url)).text()

const begin = () => put(urls.upload, '')
const putThrough = (body: BodyInit, headers = {}) => put(`${urls.upload}?proxy=1`, body, headers)
/** Follows a redirect as a client does: with the same method, body and type. */
async function follow(response: Response, body: BodyInit, contentType = 'text/plain'): Promise<Response> {
  expect(response.status).toBe(307)
  return put(response.headers.get('location') as string, body, { 'content-type': contentType })
}

const idOf = (sent: Response) => new URL(sent.headers.get('location') as string).pathname.slice(1)
const onDisk = async () => (await leftovers(instance.gateway)).onDisk

async function sweepAfterTwoDays(): Promise<void> {
  instance.clock.advance(49 * 3600)
  while ((await sweepObjects(instance.gateway.context)) > 0);
}

it('SHORT-09 an upload is redirected by 307 with the locked type, and counts once it is confirmed', async () => {
  const type = 'text/plain; charset=utf-8'
  const { upload, download } = await createFile(instance, locker, 'a.txt', { contentType: type })
  const sent = await put(upload, 'ignored', { 'content-type': 'text/plain;charset=UTF-8' })
  expect(Object.fromEntries(sent.headers)).toMatchObject({
    location: expect.stringMatching(new RegExp(`^${store.url}/[0-9a-f]{32}\\?`)),
    'content-type': type,
    'content-length': '0',
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    'access-control-allow-origin': '*',
  })
  expect([sent.status, await sent.text()]).toEqual([307, ''])
  expect(await errorOf(await get(download))).toEqual([404, 'CONTENT_NOT_FOUND'])
  expect((await confirm()).status).toBe(404)
  expect((await follow(sent, 'x', 'text/html')).status).toBe(403)
  expect((await follow(sent, 'hello', type)).status).toBe(200)
  await expectConfirmed('hello')
  expect(await rowOf(instance, locker, 'a.txt')).toMatchObject({ upload_object_id: null, size_bytes: 5 })
})

it('SHORT-10 only proxy=1 keeps an upload from being redirected', async () => {
  expect((await putThrough('hello')).status).toBe(200)
  await expectConfirmed('hello')
  for (const query of ['?proxy=0', '?proxy=', '?proxy=true', '?proxy=11', '?other=1'])
    expect((await put(urls.upload + query, 'hello')).status).toBe(307)
  expect((await put(`${urls.upload}?proxy=1&proxy=1`, 'hello')).status).toBe(422)
})

it('SHORT-06 SHORT-09 an upload is redirected, or refused if it is invalid, before its body arrives', async () => {
  const before = await leftovers(instance.gateway)
  expect((await put(`${urls.upload}A`, 'x')).status).toBe(403)
  expect((await put(urls.upload, 'x', { 'content-type': 'text/html' })).status).toBe(403)
  expect((await put(urls.upload, 'x', { 'content-encoding': 'gzip' })).status).toBe(415)
  const statusFor = async (length: number) => {
    const socket = rawUpload(urls.upload, ['Content-Type: text/plain', `Content-Length: ${length}`])
    return String((await once(socket, 'data'))[0]).split(' ')[1]
  }
  expect(await statusFor(1024 ** 5)).toBe('413')
  expect(await leftovers(instance.gateway)).toEqual(before)
  expect(await statusFor(1_000_000_000)).toBe('307')
})

it('AMB-24 a redirected upload replaces the file only after it arrives, and never a newer one', async () => {
  await putThrough('old')
  await confirm()
  const sent = await begin()
  expect(await textOf(urls.download)).toBe('old')
  await follow(sent, 'new!')
  expect(await textOf(urls.download)).toBe('new!')
  expect((await rowOf(instance, locker, 'a.txt')).content_hash).toBeNull()
  await expectConfirmed('new!')
  await follow(await begin(), 'sent on')
  await putThrough('through the gateway')
  expect(await textOf(urls.download)).toBe('through the gateway')
})

it('T-17 ADD-60 an upload without overwrite does not replace bytes that arrived but are not read yet', async () => {
  const session = await openTestSession(instance, locker, { files: [{ filename: 'a.txt', overwrite: false }] })
  expect((await session.raw(0, 'mine')).status).toBe(200)
  await follow(await begin(), 'theirs')
  const refused = { status: 'failed', files: [{ ok: false, error: 'PRECONDITION_FAILED' }] }
  expect((await session.finalize()).body).toMatchObject(refused)
  expect(await textOf(urls.download)).toBe('theirs')
})

it('T-50 SHORT-09 a direct upload keeps the type it was sent with when the file is created again', async () => {
  const sent = await begin()
  await createFile(instance, locker, 'a.txt', { contentType: 'text/html' })
  await follow(sent, 'plain')
  expect((await fetch(urls.download, { method: 'HEAD' })).headers.get('content-type')).toBe('text/plain')
})

it('T-50 the sweep keeps a direct upload while its provider is unavailable', async () => {
  await follow(await begin(), 'accepted')
  isDown = true
  await sweepAfterTwoDays()
  isDown = false
  await expectConfirmed('accepted')
})

it.each([
  ['revoked', () => locker.call(['locker:admin'], 'POST', '/revoke')],
  ['removed', () => locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)],
])('T-50 T-36 bytes that arrived before a key was %s become the file, and later bytes never do', async (_, end) => {
  const { upload, download } = await createFile(instance, locker, 'a.txt', {}, operator)
  const [accepted, late] = [await put(upload, ''), await put(upload, '')]
  expect((await follow(accepted, 'hello')).status).toBe(200)
  expect((await end()).status).toBe(200)
  await follow(late, 'defaced')
  await expectConfirmed('hello')
  expect(await errorOf(await put(upload, 'again'))).toEqual([403, 'SHORT_URL_INVALID'])
  expect((await get(download)).status).toBe(403)
  await locker.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
  await sweepAfterTwoDays()
  expect(await rowOf(instance, locker, 'a.txt')).toMatchObject({ object_id: idOf(accepted), upload_object_id: null })
  expect(await onDisk()).not.toContain(idOf(late))
})

it('T-50 SHORT-08 the sweep removes bytes written to the address of a deleted file, even repeatedly', async () => {
  const [sent, unread] = [await begin(), await begin()]
  await follow(sent, 'hello')
  expect((await confirm()).status).toBe(200)
  expect((await fetch(urls.remove, { method: 'DELETE' })).status).toBe(200)
  const ids = [sent, unread].map(idOf)
  const left = async () => (await onDisk()).filter((id) => ids.includes(id))
  expect(await left()).toEqual([])
  for (const one of [sent, unread]) await follow(one, 'back again')
  expect(await left()).toHaveLength(2)
  await sweepAfterTwoDays()
  expect(await left()).toEqual([])
  expect((await leftovers(instance.gateway)).writing.filter((id) => ids.includes(id))).toEqual([])
})

it('LIM-12 T-50 a direct upload over the limit is refused when it is confirmed, and removed', async () => {
  await putThrough('good')
  const sent = await begin()
  await follow(sent, 'too much')
  maxBytes = 7
  expectRefusal(await confirm(), 413, 'UPLOAD_TOO_LARGE')
  await expectConfirmed('good')
  expect(await onDisk()).not.toContain(idOf(sent))
})

it.each([
  ['five minutes at most', 1440, 0, 301],
  ['no longer than its short URL', 30, 1000, 800],
])('SHORT-07 T-36 the address of a provider works for %s', async (_, ttl_min, before, after) => {
  const { upload } = await createFile(instance, locker, 'a.txt', { ttl_min })
  instance.clock.advance(before)
  const sent = await put(upload, '')
  instance.clock.advance(after)
  expect((await follow(sent, 'x')).status).toBe(403)
})

describe('a direct upload where terms are enforced', () => {
  const strict = forEachTest(async () => {
    const providers = onlyProvider(redirecting(local(), store))
    const variables = { STORAGE_DIR: storage.folder, ENFORCE_TERMS: 'true' }
    return openTestGateway(variables, { providers, clock: instance.clock })
  })
  const small = forEachTest(() => strict.locker(ed25519Identity()))
  const db = () => strict.gateway.context.database.db
  const sweep = () => sweepObjects(strict.gateway.context)
  const fill = async (filename: string, bytes = 'x'.repeat(600)) =>
    put((await createFile(strict, small, filename)).upload, bytes)

  const limit = (storage_limit_bytes: number) => limitBytes(strict, small, storage_limit_bytes)

  it('T-56 counts with its promised size until it arrives, and is removed if it is larger', async () => {
    await limit(1000)
    const promised = await fill('a')
    expect(promised.status).toBe(307)
    expect([(await fill('b')).status, (await fill('c', 'y'.repeat(400))).status]).toEqual([200, 200])
    expect((await follow(promised, 'z'.repeat(5000))).status).toBe(200)
    instance.clock.advance(601)
    await sweep()
    expect(await rowOf(strict, small, 'a')).toMatchObject({ object_id: null, upload_object_id: null })
    expect(await errorOf(await fill('d', 'w'))).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])
  })

  it('T-56 is checked less and less often until it arrives, and counts until its last check', async () => {
    await limit(1000)
    expect([(await fill('a')).status, (await fill('b', 'y'.repeat(500))).status]).toEqual([307, 200])
    const checkTime = async () =>
      (await db().selectFrom('direct_uploads').select('look_at').executeTakeFirstOrThrow()).look_at!
    const first = await checkTime()
    instance.clock.advance(700)
    await sweep()
    expect((await checkTime()) - first).toBe(800)
    instance.clock.advance(3600)
    await limit(1600)
    expect((await fill('c')).status).toBe(307)
    // It counts until that check, however late the check is.
    instance.clock.advance(3601)
    expect((await fill('d')).status).toBe(200)
    await sweep()
    await limit(1700)
    expect((await fill('e')).status).toBe(307)
  })

  it('T-56 is not offered to a locker with a thousand that never arrived', async () => {
    expect((await fill('a')).status).toBe(307)
    const expected = await db().selectFrom('direct_uploads').selectAll().executeTakeFirstOrThrow()
    const object = await db().selectFrom('objects').selectAll().executeTakeFirstOrThrow()
    const ids = Array.from({ length: 1000 }, (_, i) => String(i).padStart(32, '0'))
    const objects = ids.map((object_id) => ({ ...object, object_id }))
    await writable(db()).insertInto('objects').values(objects).execute()
    const uploads = ids.map((object_id, position) => ({ ...expected, object_id, filename: 'never', position }))
    await writable(db()).insertInto('direct_uploads').values(uploads).execute()
    expect((await fill('h')).status).toBe(200)
  })
})

it('ADD-06 a conditional download stays at the server that issued its tag, since the provider has other tags', async () => {
  await putThrough('hello')
  await confirm()
  const etag = `"sha256:${sha256('hello')}"`
  for (const condition of ['if-match', 'if-range']) {
    const rest = await get(urls.download, { [condition]: etag, range: 'bytes=1-' })
    expect([rest.status, await rest.text()]).toEqual([206, 'ello'])
  }
  expect(await errorOf(await get(urls.download, { 'if-match': '"other"' }))).toEqual([412, 'PRECONDITION_FAILED'])
  const other = { 'if-range': '"tag of the provider"', range: 'bytes=1-' }
  expect((await get(urls.download, other)).status).toBe(307)
})

it('SHORT-09 a download is redirected by 307 with the stored type; HEAD and the public link are not', async () => {
  await putThrough('hello')
  await confirm()
  const sent = await get(urls.download, { range: 'bytes=0-1' })
  expect(sent.status).toBe(307)
  expect(Object.fromEntries(sent.headers)).toMatchObject({
    location: expect.stringMatching(new RegExp(`^${store.url}/`)),
    'content-type': 'text/plain',
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
  })
  const fetched = await fetch(sent.headers.get('location') as string)
  expect([fetched.headers.get('content-type'), await fetched.text()]).toEqual(['text/plain', 'hello'])
  const head = await fetch(urls.download, { method: 'HEAD', redirect: 'manual' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '5'])
  const link = await get(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`)
  expect([link.status, await link.text()]).toEqual([200, 'hello'])
})

it('GEN-11 T-139 an unavailable store answers 503 without its name', async () => {
  await putThrough('hello')
  isDown = true
  for (const response of [await begin(), await get(urls.download)]) {
    const body = await response.text()
    expect(response.status).toBe(503)
    expect(JSON.parse(body)).toMatchObject({ error: 'STORAGE_UNAVAILABLE', details: { layer: 'provider' } })
    expect(body).not.toMatch(/storage\.example|gcs|127\.0\.0\.1/)
  }
  expect((await putThrough('still')).status).toBe(200)
})
