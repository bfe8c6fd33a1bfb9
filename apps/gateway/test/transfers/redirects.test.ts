import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalProvider } from '@svc/storage/local'
import { ProviderError, type StorageProvider } from '@svc/storage/provider'
import { type RedirectingStore, redirecting, startRedirectingStore } from '@svc/storage/test/redirecting-store'
import { onlyProvider } from '@svc/testbed/only-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { openTestSession } from './sessions/sessions.ts'
import { createFile, errorOf, leftovers, put, rawUpload, rowOf, sha256 } from './transfers.ts'

let folder: string
let store: RedirectingStore
let house: LockerHouse
let locker: TestLocker
let time = () => 0
let isDown = false
let maxBytes = Number.POSITIVE_INFINITY

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-files-'))
  const local = await openLocalProvider({ folder })
  store = await startRedirectingStore({ provider: local, now: () => time() })
  const provider = failing(redirecting(local, store))
  const providers = onlyProvider(provider)
  house = await openLockerHouse({ STORAGE_DIR: folder }, { providers })
  time = house.clock.now
  locker = await house.locker(ed25519Identity())
})

afterAll(async () => {
  await house.close()
  await store.stop()
  await rm(folder, { recursive: true })
})

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

const confirm = (filename: string) =>
  house.send<{ content_hash: string; error: string }>(
    'POST',
    `/v1/files/confirm?${new URLSearchParams({ receipt_id: locker.receiptId, filename })}`,
  )
const get = (url: string, headers = {}) => fetch(url, { redirect: 'manual', headers })

/** Follows a redirect as a client does: with the same method, body and type. */
async function follow(response: Response, body: BodyInit, contentType = 'text/plain'): Promise<Response> {
  expect(response.status).toBe(307)
  return put(response.headers.get('location') as string, body, { 'content-type': contentType })
}

async function sweepAfterTwoDays(): Promise<void> {
  house.clock.advance(49 * 3600)
  while ((await sweepObjects(house.gateway.rooms.files)) > 0);
}

describe('a redirected upload', () => {
  it('SHORT-09 AMB-61 an upload is redirected by 307 with the locked type, and counts once it is confirmed', async () => {
    const { upload, download } = await createFile(house, locker, 'sent.txt', {
      contentType: 'text/plain; charset=utf-8',
    })
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

  it('SHORT-09 a stock HTTP client follows the redirect of an upload', async () => {
    const { upload } = await createFile(house, locker, 'followed.txt')
    const response = await fetch(upload, { method: 'PUT', body: 'hello', headers: { 'content-type': 'text/plain' } })
    expect([response.status, response.url.startsWith(store.url)]).toEqual([200, true])
    expect((await confirm('followed.txt')).status).toBe(200)
  })

  it('SHORT-09 an upload is redirected before its body arrives', async () => {
    const { upload } = await createFile(house, locker, 'unsent.txt')
    const socket = rawUpload(upload, ['Content-Type: text/plain', 'Content-Length: 1000000000'])
    const [answer] = (await new Promise((resolve) => socket.once('data', (data) => resolve([data])))) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1\.1 307 /)
  })

  it('AMB-47 SHORT-06 SHORT-07 an invalid upload is refused, not redirected', async () => {
    const { upload } = await createFile(house, locker, 'refused.txt')
    const before = await leftovers(house.gateway)
    expect((await put(`${upload}A`, 'x')).status).toBe(403)
    expect((await put(upload, 'x', { 'content-type': 'text/html' })).status).toBe(403)
    expect((await put(upload, 'x', { 'content-encoding': 'gzip' })).status).toBe(415)
    const socket = rawUpload(upload, ['Content-Type: text/plain', `Content-Length: ${1024 ** 5}`])
    const [answer] = (await new Promise((resolve) => socket.once('data', (data) => resolve([data])))) as [Buffer]
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

  it('AMB-24 a redirected upload counts even if a later one never arrives', async () => {
    const { upload, download } = await createFile(house, locker, 'twice.txt')
    await follow(await put(upload, ''), 'first')
    expect((await put(upload, '')).status).toBe(307)
    expect(await (await fetch(download)).text()).toBe('first')
  })

  it('AMB-24 a redirected upload does not replace a later upload through the gateway', async () => {
    const { upload, download } = await createFile(house, locker, 'later.txt')
    await follow(await put(upload, ''), 'sent on')
    await put(`${upload}?proxy=1`, 'through the gateway')
    expect(await (await fetch(download)).text()).toBe('through the gateway')
  })

  it('AMB-24 concurrent readers all find a redirected upload', async () => {
    const { upload, download } = await createFile(house, locker, 'awaited.txt')
    await follow(await put(upload, ''), 'here')
    const answers = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(download)).text()))
    expect(answers).toEqual(answers.map(() => 'here'))
  })

  it('SHORT-08 a redirected upload of a deleted file is swept', async () => {
    const { upload, remove } = await createFile(house, locker, 'gone.txt')
    const sent = await put(upload, '')
    expect((await fetch(remove, { method: 'DELETE' })).status).toBe(200)
    await follow(sent, 'too late')
    const id = new URL(sent.headers.get('location') as string).pathname.slice(1)
    expect((await leftovers(house.gateway)).writing).toContain(id)
    house.clock.advance(49 * 3600)
    while ((await sweepObjects(house.gateway.rooms.files)) > 0);
    const { writing, onDisk } = await leftovers(house.gateway)
    expect([writing, onDisk]).toEqual([expect.not.arrayContaining([id]), expect.not.arrayContaining([id])])
  })

  it('T-50 a direct upload that nobody has read or confirmed is adopted before the sweep removes anything', async () => {
    const { upload } = await createFile(house, locker, 'unread.txt')
    await follow(await put(upload, ''), 'accepted')
    await sweepAfterTwoDays()
    expect(await rowOf(house, locker, 'unread.txt')).toMatchObject({
      object_id: expect.any(String),
      content_hash: null,
    })
    await sweepAfterTwoDays()
    expect((await confirm('unread.txt')).body.content_hash).toBe(`sha256:${sha256('accepted')}`)
  })

  it('T-182 T-189 where terms are enforced, what is promised and has not arrived counts, and what arrives is found soon', async () => {
    const local = await openLocalProvider({ folder })
    const providers = onlyProvider(redirecting(local, store))
    const strict = await openLockerHouse({ STORAGE_DIR: folder, ENFORCE_TERMS: 'true' }, { providers })
    time = strict.clock.now
    const small = await strict.locker(ed25519Identity())
    const { db } = strict.gateway.context.database
    const { terms } = await db.selectFrom('lockers').select('terms').executeTakeFirstOrThrow()
    const limit = async (storage_limit_bytes: number) => {
      const changed = JSON.stringify({ ...JSON.parse(terms), storage_limit_bytes })
      await db.updateTable('lockers').set({ terms: changed }).execute()
    }
    await limit(1000)
    const sweep = () => sweepObjects(strict.gateway.rooms.files)
    const urls = await Promise.all(['a', 'b', 'c', 'd'].map((name) => createFile(strict, small, name)))
    const [a, b, c, d] = urls.map(({ upload }) => upload) as [string, string, string, string]
    const bytes = 'x'.repeat(600)

    const promised = await put(a, bytes)
    expect(promised.status).toBe(307)
    expect((await put(b, bytes)).status).toBe(200)
    expect((await put(c, 'y'.repeat(400))).status).toBe(200)
    // It lied: more arrives than there is room for, and nobody reads or confirms it.
    expect((await follow(promised, 'z'.repeat(5000))).status).toBe(200)
    strict.clock.advance(601)
    await sweep()
    expect(await rowOf(strict, small, 'a')).toMatchObject({ object_id: null, upload_object_id: null })
    expect(await errorOf(await put(d, 'w'))).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])

    // One that never arrives is looked for less and less often, and is not counted for long.
    await limit(1600)
    expect((await put(d, bytes)).status).toBe(307)
    expect((await put(a, bytes)).status).toBe(200)
    const lookAt = async () =>
      (await db.selectFrom('direct_uploads').select('look_at').executeTakeFirstOrThrow()).look_at!
    const first = await lookAt()
    strict.clock.advance(700)
    await sweep()
    expect((await lookAt()) - first).toBe(800)
    strict.clock.advance(3600)
    await limit(2200)
    const fill = async (name: string) => (await put((await createFile(strict, small, name)).upload, bytes)).status
    expect(await fill('e')).toBe(307)

    // It counts until it was looked for, however late that is.
    strict.clock.advance(3601)
    expect(await fill('f')).toBe(200)
    await sweep()
    await limit(10_000)
    expect(await fill('g')).toBe(307)

    // Whoever begins uploads that never arrive is not sent to the provider any more.
    const [awaited] = await db.selectFrom('direct_uploads').selectAll().execute()
    const ids = Array.from({ length: 1000 }, (_, i) => String(i).padStart(32, '0'))
    const { provider, since } = await db.selectFrom('objects').selectAll().executeTakeFirstOrThrow()
    const objects = ids.map((object_id) => ({
      object_id,
      provider,
      provider_ref: null,
      state: 'writing' as const,
      since,
    }))
    const uploads = ids.map((object_id, position) => ({ ...awaited!, object_id, filename: 'never', position }))
    await db.insertInto('objects').values(objects).execute()
    await db.insertInto('direct_uploads').values(uploads).execute()
    expect(await fill('h')).toBe(200)
    await strict.close()
    time = house.clock.now
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

  it('T-50 AMB-24 of several direct uploads the newest that arrived counts, in whatever order they arrive', async () => {
    const { upload, download } = await createFile(house, locker, 'several.txt')
    const [first, second, third] = [await put(upload, ''), await put(upload, ''), await put(upload, '')]
    expect(await errorOf(await get(download))).toEqual([404, 'CONTENT_NOT_FOUND'])
    expect((await follow(first, 'one')).status).toBe(200)
    expect((await confirm('several.txt')).body.content_hash).toBe(`sha256:${sha256('one')}`)
    await follow(third, 'three')
    expect((await confirm('several.txt')).body.content_hash).toBe(`sha256:${sha256('three')}`)
    await follow(second, 'two')
    await sweepAfterTwoDays()
    const row = await rowOf(house, locker, 'several.txt')
    expect(row).toMatchObject({ upload_object_id: null, content_hash: `sha256:${sha256('three')}` })
    const { writing, onDisk } = await leftovers(house.gateway)
    expect(writing).toEqual([])
    expect(onDisk).toContain(row.object_id)
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
    try {
      await sweepAfterTwoDays()
    } finally {
      isDown = false
    }
    expect((await confirm('unasked.txt')).body.content_hash).toBe(`sha256:${sha256('accepted')}`)
  })

  it('T-50 T-17 a sweep and a confirmation at the same moment adopt a direct upload once', async () => {
    const { upload } = await createFile(house, locker, 'raced.txt')
    await follow(await put(upload, ''), 'accepted')
    house.clock.advance(49 * 3600)
    const [answer] = await Promise.all([
      confirm('raced.txt'),
      sweepObjects(house.gateway.rooms.files),
      confirm('raced.txt'),
    ])
    expect(answer.body.content_hash).toBe(`sha256:${sha256('accepted')}`)
  })

  it('T-36 a direct upload of a removed operator never becomes the file', async () => {
    const operator = ed25519Identity()
    const shared = await house.locker(ed25519Identity(), { operators: [operator] })
    const { upload, download } = await createFile(house, shared, 'a.txt', {}, operator)
    const sent = [await put(upload, ''), await put(upload, '')]
    await shared.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
    for (const one of sent) await follow(one, 'defaced')
    const { receiptId: receipt_id } = shared
    const about = new URLSearchParams({ receipt_id, filename: 'a.txt' })
    expect((await house.send('POST', `/v1/files/confirm?${about}`)).status).toBe(404)
    expect((await get(download)).status).toBe(403)
    await shared.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
    await sweepAfterTwoDays()
    expect(await rowOf(house, shared, 'a.txt')).toMatchObject({ object_id: null, upload_object_id: null })
    const ids = sent.map((one) => new URL(one.headers.get('location') as string).pathname.slice(1))
    const { onDisk } = await leftovers(house.gateway)
    for (const id of ids) expect(onDisk).not.toContain(id)
  })

  it('T-50 T-36 bytes that the provider accepted before access ended become the file, and later ones do not', async () => {
    const operator = ed25519Identity()
    const shared = await house.locker(ed25519Identity(), { operators: [operator] })
    const confirmIn = (filename: string) =>
      house.send<{ content_hash: string }>(
        'POST',
        `/v1/files/confirm?${new URLSearchParams({ receipt_id: shared.receiptId, filename })}`,
      )
    const ends = {
      'revoked.txt': () => shared.call(['locker:admin'], 'POST', '/revoke'),
      'removed.txt': () => shared.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`),
    }
    for (const [filename, end] of Object.entries(ends)) {
      const { upload } = await createFile(house, shared, filename, {}, operator)
      const [accepted, late] = [await put(upload, ''), await put(upload, '')]
      expect((await follow(accepted, 'hello')).status).toBe(200)
      expect((await end()).status).toBe(200)
      await follow(late, 'defaced')
      expect((await confirmIn(filename)).body).toMatchObject({ content_hash: `sha256:${sha256('hello')}` })
      expect(await errorOf(await put(upload, 'again'))).toEqual([403, 'SHORT_URL_INVALID'])
    }
  })

  it('T-50 what is written again to the address of a deleted file is swept', async () => {
    const { upload, remove } = await createFile(house, locker, 'deleted.txt')
    const sent = await put(upload, '')
    await follow(sent, 'hello')
    expect((await confirm('deleted.txt')).status).toBe(200)
    expect((await fetch(remove, { method: 'DELETE' })).status).toBe(200)
    const id = new URL(sent.headers.get('location') as string).pathname.slice(1)
    expect((await leftovers(house.gateway)).onDisk).not.toContain(id)
    await follow(sent, 'back again')
    expect((await leftovers(house.gateway)).onDisk).toContain(id)
    await sweepAfterTwoDays()
    const { writing, onDisk } = await leftovers(house.gateway)
    expect([writing, onDisk]).toEqual([expect.not.arrayContaining([id]), expect.not.arrayContaining([id])])
  })

  it('AMB-47 T-50 a direct upload over the limit is refused when it is confirmed, and removed', async () => {
    const { upload } = await createFile(house, locker, 'huge.txt')
    await put(`${upload}?proxy=1`, 'good')
    const sent = await put(upload, '')
    await follow(sent, 'too much')
    maxBytes = 7
    const refused = await confirm('huge.txt')
    maxBytes = Number.POSITIVE_INFINITY
    expect([refused.status, refused.body.error]).toEqual([413, 'UPLOAD_TOO_LARGE'])
    expect((await confirm('huge.txt')).body.content_hash).toBe(`sha256:${sha256('good')}`)
    const id = new URL(sent.headers.get('location') as string).pathname.slice(1)
    expect((await leftovers(house.gateway)).onDisk).not.toContain(id)
  })

  it('T-36 SHORT-07 the address of a provider works for five minutes at most', async () => {
    const { upload } = await createFile(house, locker, 'brief.txt', { ttl_min: 1440 })
    const sent = await put(upload, '')
    house.clock.advance(301)
    expect((await follow(sent, 'x')).status).toBe(403)
  })

  it('SHORT-07 the address of a redirected upload expires with its short URL', async () => {
    const { upload } = await createFile(house, locker, 'timely.txt')
    house.clock.advance(1000)
    const sent = await put(upload, '')
    house.clock.advance(800)
    expect((await follow(sent, 'x')).status).toBe(403)
  })
})

describe('a redirected download', () => {
  it('ADD-20 a download on a condition is not redirected, since the provider has other tags', async () => {
    const { upload, download } = await createFile(house, locker, 'conditional.txt')
    await put(`${upload}?proxy=1`, 'hello')
    await confirm('conditional.txt')
    const etag = `"sha256:${sha256('hello')}"`
    const rest = await get(download, { 'if-match': etag, range: 'bytes=1-' })
    expect([rest.status, await rest.text()]).toEqual([206, 'ello'])
    expect(await errorOf(await get(download, { 'if-match': '"other"' }))).toEqual([412, 'PRECONDITION_FAILED'])
    const ours = await get(download, { 'if-range': etag, range: 'bytes=1-' })
    expect([ours.status, await ours.text()]).toEqual([206, 'ello'])
  })

  it('ADD-20 a download that the provider began goes on there', async () => {
    const { upload, download } = await createFile(house, locker, 'resumed.txt')
    await put(`${upload}?proxy=1`, 'hello')
    await confirm('resumed.txt')
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
})

describe('an unavailable store', () => {
  it('GEN-11 T-31 an unavailable store is 503 without its name', async () => {
    const { upload, download } = await createFile(house, locker, 'away.txt')
    await put(`${upload}?proxy=1`, 'hello')
    isDown = true
    try {
      for (const attempt of [() => put(upload, 'x'), () => get(download)]) {
        const response = await attempt()
        const body = await response.text()
        expect([response.status, JSON.parse(body).error]).toEqual([503, 'STORAGE_UNAVAILABLE'])
        expect(JSON.parse(body).details.layer).toBe('provider')
        expect(body).not.toMatch(/storage\.example|gcs|127\.0\.0\.1/)
      }
      expect((await put(`${upload}?proxy=1`, 'still')).status).toBe(200)
    } finally {
      isDown = false
    }
  })
})
