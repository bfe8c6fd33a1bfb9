import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openLocalProvider } from '../src/local/open.ts'
import type { StorageProvider } from '../src/provider.ts'
import { type RedirectingStore, redirecting, startRedirectingStore } from './redirecting-store.ts'

const PNG = { contentType: 'image/png', expiresInSeconds: 60, size: 5, maxBytes: 100 }
let now = 1_800_000_000_000

async function openStore() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-store-'))
  const local = await openLocalProvider({ folder })
  const store = await startRedirectingStore({ provider: local, now: () => now })
  return {
    folder,
    store,
    provider: redirecting(local, store),
    async close() {
      await store.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

describe('the redirecting store', () => {
  let opened: Awaited<ReturnType<typeof openStore>>
  let provider: StorageProvider
  let store: RedirectingStore
  let id: string
  beforeAll(async () => {
    opened = await openStore()
    provider = opened.provider
    store = opened.store
  })
  afterAll(() => opened.close())
  beforeEach(() => {
    id = randomBytes(16).toString('hex')
  })

  const put = (url: string, body: BodyInit, type: string | null = 'image/png') =>
    fetch(url, { method: 'PUT', body, headers: type === null ? {} : { 'content-type': type } })
  const status = async (answer: Promise<Response>) => (await answer).status

  async function stored(bytes: Buffer<ArrayBuffer>, type = 'image/png'): Promise<string> {
    const target = (await provider.uploadTarget(id, PNG))!
    expect(await status(fetch(target.url, { method: 'PUT', body: bytes, headers: target.headers }))).toBe(200)
    return (await provider.downloadTarget({ id, ref: null }, { ...PNG, contentType: type }))!.url
  }

  it('stores the bytes of a client and returns them to another, with the content type that was signed', async () => {
    const bytes = randomBytes(5_000_000)
    const answer = await fetch(await stored(bytes, 'text/html; charset="utf-8"'))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset="utf-8"')
    expect(answer.headers.get('content-length')).toBe('5000000')
    expect(bytes.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true)
    expect(await provider.stat({ id, ref: null })).toEqual({ size: bytes.length })
  })

  it('stores and returns an empty object, and one of unknown length', async () => {
    expect(await (await fetch(await stored(Buffer.alloc(0)))).text()).toBe('')
    id = randomBytes(16).toString('hex')
    const body = new Blob(['in pieces']).stream()
    const chunked = { method: 'PUT', body, headers: { 'content-type': 'image/png' }, duplex: 'half' } as const
    expect(await status(fetch(store.uploadUrl(id, PNG), chunked as RequestInit))).toBe(200)
    expect(await (await fetch(store.downloadUrl({ id, ref: null }, PNG))).text()).toBe('in pieces')
  })

  it('SHORT-09 receives body and content type through a 307 redirect', async () => {
    const gateway = createServer((_, response) => {
      response.writeHead(307, { location: store.uploadUrl(id, PNG), 'content-length': 0 }).end()
    })
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
    const { port } = gateway.address() as { port: number } // a listening TCP server has one
    expect(await status(put(`http://127.0.0.1:${port}`, 'the bytes'))).toBe(200)
    gateway.close()
    expect(await (await fetch(store.downloadUrl({ id, ref: null }, PNG))).text()).toBe('the bytes')
  })

  it.each([
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=7-99', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=4-2', 200, '0123456789', null],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
  ])('answers the range %s with %i', async (range, expected, body, contentRange) => {
    const answer = await fetch(await stored(Buffer.from('0123456789')), { headers: { range } })
    expect([answer.status, await answer.text()]).toEqual([expected, body])
    expect(answer.headers.get('content-range')).toBe(contentRange)
  })

  it('shares its objects with the provider', async () => {
    const key = { id, ref: null }
    expect(await status(fetch(store.downloadUrl(key, PNG)))).toBe(404)
    await provider.write(id, Readable.from([Buffer.from('by another door')]), { contentType: 'image/png', size: null })
    expect(await (await fetch(store.downloadUrl(key, PNG))).text()).toBe('by another door')
    expect(await provider.remove(key)).toBe('removed')
    expect(await status(fetch(store.downloadUrl(key, PNG)))).toBe(404)
    expect(await provider.check()).toBe(true)
  })

  it('SHORT-06 rejects every other Content-Type', async () => {
    for (const type of ['image/jpeg', 'IMAGE/PNG', 'image/png; a=b', null]) {
      expect(await status(put(store.uploadUrl(id, PNG), Buffer.alloc(2_000_000), type))).toBe(403)
    }
    expect(await provider.stat({ id, ref: null })).toBeNull()
  })

  it('accepts an address until it expires', async () => {
    const [upload, late] = [store.uploadUrl(id, PNG), store.uploadUrl(id, { ...PNG, expiresInSeconds: 59 })]
    const download = store.downloadUrl({ id, ref: null }, PNG)
    now += 59_999
    expect(await status(put(late, 'late'))).toBe(403)
    expect(await status(put(upload, 'in time'))).toBe(200)
    expect(await status(fetch(download))).toBe(200)
    now += 1
    expect(await status(put(upload, 'late'))).toBe(403)
    expect(await status(fetch(download))).toBe(403)
  })

  it('SHORT-05 rejects an address that was changed, and any other method', async () => {
    const download = await stored(Buffer.from('kept'))
    const upload = store.uploadUrl(id, PNG)
    const changed = (address: string, change: (url: URL) => void) => {
      const url = new URL(address)
      change(url)
      return url.href
    }
    const changes: ((url: URL) => void)[] = [
      (url) => url.searchParams.set('expires', '9999999999'),
      (url) => url.searchParams.set('type', 'text/html'),
      (url) => url.searchParams.set('ref', 'other'),
      (url) => url.searchParams.set('signature', '0'.repeat(64)),
      (url) => url.searchParams.set('signature', 'é'.repeat(64)),
      (url) => url.searchParams.delete('signature'),
      (url) => {
        url.pathname = `/${randomBytes(16).toString('hex')}`
      },
      (url) => {
        url.pathname = `/../${id}/..`
      },
    ]
    for (const change of changes) {
      expect(await status(fetch(changed(download, change)))).toBe(403)
      expect(await status(put(changed(upload, change), 'other'))).toBe(403)
    }
    expect(await status(fetch(upload))).toBe(403)
    expect(await status(put(download, 'other'))).toBe(403)
    for (const method of ['HEAD', 'DELETE', 'POST']) expect(await status(fetch(download, { method }))).toBe(403)
    expect(await status(fetch(store.url))).toBe(403)
    expect(await status(fetch(`${store.url}//`))).toBe(403)
    expect(await (await fetch(download)).text()).toBe('kept')
  })

  it('does not replace an existing object', async () => {
    const download = await stored(Buffer.from('first'))
    expect(await status(put(store.uploadUrl(id, PNG), 'other'))).toBe(412)
    expect(await (await fetch(download)).text()).toBe('first')
  })

  it('stores nothing of an upload that breaks off', async () => {
    const broken = Promise.withResolvers<void>()
    const client = request(store.uploadUrl(id, PNG), {
      method: 'PUT',
      headers: { 'content-type': 'image/png', 'content-length': 10_000_000 },
    })
    client.on('error', () => broken.resolve())
    client.write(randomBytes(3_000_000), () => client.destroy(new Error('gone')))
    await broken.promise
    expect(await provider.stat({ id, ref: null })).toBeNull()
    // Once the store has noticed.
    await expect.poll(() => status(put(store.uploadUrl(id, PNG), 'again'))).toBe(200)
  })
})

it('the redirecting store answers 503 when its provider is unavailable', async () => {
  const { folder, store, close } = await openStore()
  await rm(folder, { recursive: true })
  const id = randomBytes(16).toString('hex')
  const headers = { 'content-type': 'image/png' }
  expect(
    (await fetch(store.uploadUrl(id, PNG), { method: 'PUT', body: Buffer.alloc(5_000_000), headers })).status,
  ).toBe(503)
  expect((await fetch(store.downloadUrl({ id, ref: null }, PNG))).status).toBe(503)
  await close()
})
