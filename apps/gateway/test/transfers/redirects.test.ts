import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalProvider } from '@svc/storage/local'
import { ProviderError, type StorageProvider } from '@svc/storage/provider'
import { type RedirectingStore, redirecting, startRedirectingStore } from '@svc/storage/test/redirecting-store'
import { onlyProvider } from '@svc/testbed/only-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepObjects } from '../../src/files/objects.ts'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { createFile, errorOf, leftovers, put, rawUpload, rowOf, sha256 } from './transfers.ts'

let folder: string
let store: RedirectingStore
let house: LockerHouse
let locker: TestLocker
let time = () => 0
let isDown = false

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

/** A store whose signing service can be made unavailable. */
function failing(provider: StorageProvider): StorageProvider {
  const unlessDown = <T>(target: () => Promise<T>): Promise<T> =>
    isDown ? Promise.reject(new ProviderError('unavailable', new Error('storage.example is down'))) : target()
  return {
    ...provider,
    uploadTarget: (...args) => unlessDown(() => provider.uploadTarget(...args)),
    downloadTarget: (...args) => unlessDown(() => provider.downloadTarget(...args)),
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
    while ((await sweepObjects(house.gateway.context)) > 0);
    const { writing, onDisk } = await leftovers(house.gateway)
    expect([writing, onDisk]).toEqual([expect.not.arrayContaining([id]), expect.not.arrayContaining([id])])
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
