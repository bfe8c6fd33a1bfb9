// Signed addresses, with which clients upload and download directly.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { StorageProvider } from '../src/provider.ts'
import { startTestGcs } from './gcs/start-gcs.ts'
import { fetchBytes, keep, newId } from './objects.ts'
import { startTestBucket } from './s3-bucket/start-bucket.ts'

const TYPE = 'text/plain; charset=utf-8'
const TERMS = { contentType: TYPE, expiresInSeconds: 60, size: 5, maxBytes: 100 }

const stores = {
  Storj: { start: startTestBucket, once: { 'if-none-match': '*' } },
  'Google Cloud Storage': { start: startTestGcs, once: { 'x-goog-if-generation-match': '0' } },
}

const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status
const put = (url: string, headers: Readonly<Record<string, string>>, body = 'hello') =>
  statusOf(url, { method: 'PUT', headers, body })

describe.each(Object.entries(stores))('signed addresses of %s', (name, { start, once }) => {
  let store: Awaited<ReturnType<typeof startTestBucket | typeof startTestGcs>>
  let provider: StorageProvider
  let later = 0
  let id: string
  beforeAll(async () => {
    store = await start({ now: () => Date.now() + later })
    provider = await store.open({ redirect: 'all' })
  })
  afterAll(() => store.close())
  beforeEach(() => {
    later = 0
    id = newId()
  })

  it('GEN-11 are returned only when redirects are enabled', async () => {
    const targets = async (redirect: 'off' | 'get' | 'all') => {
      const opened = await store.open({ redirect })
      const made = [await opened.uploadTarget(id, TERMS), await opened.downloadTarget({ id, ref: null }, TERMS)]
      for (const target of made) if (target) expect(new URL(target.url).origin).toBe(opened.redirectsTo)
      return [...made.map((target) => target !== null), opened.redirectsTo !== undefined]
    }
    expect(await targets('off')).toEqual([false, false, false])
    expect(await targets('get')).toEqual([false, true, true])
    expect(await targets('all')).toEqual([true, true, true])
  })

  it('SHORT-09 SHORT-06 accept an upload once, with the signed content type', async () => {
    const { url, headers } = (await provider.uploadTarget(id, TERMS))!
    expect(headers).toMatchObject({ 'content-type': TYPE, ...once })
    for (const type of ['text/html', 'text/plain', 'text/plain; charset=UTF-8']) {
      expect(await put(url, { ...headers, 'content-type': type })).toBe(403)
    }
    expect(await put(url, { 'content-type': TYPE })).toBe(403)
    expect(await provider.stat({ id, ref: null })).toBeNull()
    expect(await put(url, headers)).toBe(200)
    expect(await put(url, headers, 'other')).toBe(412)
    expect(await fetchBytes(provider, { id, ref: null })).toEqual(Buffer.from('hello'))
    const download = (await provider.downloadTarget({ id, ref: null }, TERMS))!
    expect((await fetch(download.url)).headers.get('content-type')).toBe(TYPE)
  })

  it('SHORT-09 return an object, or a range of it, with the signed content type', async () => {
    const key = await keep(provider, Buffer.from('0123456789'))
    const { url, headers } = (await provider.downloadTarget(key, TERMS))!
    const whole = await fetch(url)
    const type = whole.headers.get('content-type')
    expect([headers, whole.status, type, await whole.text()]).toEqual([{}, 200, TYPE, '0123456789'])
    const part = await fetch(url, { headers: { range: 'bytes=2-4' } })
    expect([part.status, await part.text()]).toEqual([206, '234'])
    const tampered = url.replace(/response-content-type=[^&]*/, 'response-content-type=text%2Fhtml')
    expect([tampered === url, await statusOf(tampered)]).toEqual([false, 403])
  })

  it.runIf(name === 'Storj')('T-07 SHORT-09 are never cached, whatever was stored with the object', async () => {
    const { url, headers } = (await provider.uploadTarget(id, TERMS))!
    expect(await put(url, { ...headers, 'cache-control': 'public, max-age=31536000' })).toBe(200)
    const answer = await fetch((await provider.downloadTarget({ id, ref: null }, TERMS))!.url)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  })

  it('SHORT-05 T-05 are valid for one object, one method and a limited time', async () => {
    const key = await keep(provider, Buffer.from('kept'))
    const download = (await provider.downloadTarget(key, TERMS))!
    const upload = (await provider.uploadTarget(id, TERMS))!
    expect(await statusOf(download.url.replace(key.id, id))).toBe(403)
    expect(await put(upload.url.replace(id, newId()), upload.headers)).toBe(403)
    expect(await put(upload.url.replace('Expires=60', 'Expires=600'), upload.headers)).toBe(403)
    expect(await put(download.url, {})).toBe(403)
    expect(await statusOf(upload.url, { headers: upload.headers })).toBe(403)
    for (const method of ['DELETE', 'POST']) expect(await statusOf(download.url, { method })).toBe(403)
    expect(await statusOf(`${download.url}&uploads=`)).toBe(403)
    later = 58_000
    expect(await statusOf(download.url)).toBe(200)
    later = 61_000
    expect(await statusOf(download.url)).toBe(403)
    expect(await put(upload.url, upload.headers)).toBe(403)
    await expect(provider.uploadTarget('../x', TERMS)).rejects.toThrow(RangeError)
    await expect(provider.downloadTarget({ id: '../x', ref: null }, TERMS)).rejects.toThrow(RangeError)
  })

  it.runIf(name === 'Storj')('T-50 accept exactly the announced length, and no upload without one', async () => {
    const { url, headers } = (await provider.uploadTarget(id, TERMS))!
    const { 'content-length': length, ...rest } = headers
    expect(length).toBe('5')
    for (const body of ['', 'hell', 'hello!', 'x'.repeat(10_000)]) expect(await put(url, rest, body)).toBe(403)
    expect(await provider.stat({ id, ref: null })).toBeNull()
    expect(await put(url, rest)).toBe(200)
    expect(await provider.uploadTarget(newId(), { ...TERMS, size: null })).toBeNull()
  })

  it.runIf(name !== 'Storj')('T-50 SHORT-09 accept no more than the limit, when the client knows it', async () => {
    const { url, headers } = (await provider.uploadTarget(id, TERMS))!
    expect(headers).toEqual({ 'content-type': TYPE, ...provider.uploadHeaders!(TERMS.maxBytes) })
    const { 'x-goog-content-length-range': range, ...without } = headers
    expect(range).toBe('0,100')
    expect(await put(url, headers, 'x'.repeat(101))).toBe(400)
    expect(await put(url, without, 'x'.repeat(101))).toBe(403)
    expect(await put(url, { ...without, 'x-goog-content-length-range': '0,1000' }, 'x'.repeat(101))).toBe(403)
    expect(await put(url, headers, 'x'.repeat(100))).toBe(200)
    const unlimited = (await provider.uploadTarget(newId(), { ...TERMS, maxBytes: null }))!
    expect(Object.keys(unlimited.headers)).toEqual(['content-type', 'x-goog-if-generation-match'])
    expect(await put(unlimited.url, unlimited.headers)).toBe(200)
  })
})
