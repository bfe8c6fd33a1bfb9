import { beforeEach, describe, expect, it } from 'vitest'
import type { StorageProvider } from '../../src/provider.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { openTestStorj, type TestStorj } from './start-storj.ts'

const TERMS = { contentType: 'text/plain; charset=utf-8', expiresInSeconds: 60, size: 5, maxBytes: 100 }

describe('signed addresses of Storj', () => {
  let storj: TestStorj
  let provider: StorageProvider
  let now: number
  let id: string
  beforeEach(async () => {
    now = Date.now()
    storj = await openTestStorj({ now: () => now })
    provider = await storj.open({ redirect: 'all' })
    id = newId()
  })

  const put = async (url: string, headers: Readonly<Record<string, string>>, body = 'hello') =>
    (await fetch(url, { method: 'PUT', headers, body })).status

  it('AMB-21 are returned only when redirects are enabled', async () => {
    const key = { id, ref: null }
    const getting = await storj.open({ redirect: 'get' })
    expect(await storj.provider.uploadTarget(id, TERMS)).toBeNull()
    expect(await storj.provider.downloadTarget(key, TERMS)).toBeNull()
    expect(await getting.uploadTarget(id, TERMS)).toBeNull()
    expect(await getting.downloadTarget(key, TERMS)).toMatchObject({ url: expect.stringContaining(id), headers: {} })
    expect(await provider.uploadTarget(id, TERMS)).toMatchObject({ url: expect.stringContaining(id) })
    expect([storj.provider.redirectsTo, provider.redirectsTo]).toEqual([undefined, new URL(storj.server.url).origin])
  })

  it('AMB-61 SHORT-06 accept an upload only with the content type that was signed', async () => {
    const { url, headers } = (await provider.uploadTarget(id, TERMS))!
    expect(headers).toEqual({ 'content-type': TERMS.contentType, 'content-length': '5', 'if-none-match': '*' })
    for (const type of ['text/html', 'text/plain', 'text/plain; charset=UTF-8']) {
      expect(await put(url, { ...headers, 'content-type': type })).toBe(403)
    }
    expect(await put(url, headers)).toBe(200)
    expect(await fetchBytes(provider, { id, ref: null })).toEqual(Buffer.from('hello'))
    expect(storj.server.objects()[0]?.headers['content-type']).toBe(TERMS.contentType)
  })

  it('T-50 take exactly the length that was announced, and none where none was', async () => {
    const { url, headers } = (await provider.uploadTarget(id, TERMS))!
    const { 'content-length': _, ...rest } = headers
    for (const body of ['', 'hell', 'hello!', 'x'.repeat(10_000)]) expect(await put(url, rest, body)).toBe(403)
    expect(await provider.stat({ id, ref: null })).toBeNull()
    expect(await put(url, rest)).toBe(200)
    expect(await provider.uploadTarget(newId(), { ...TERMS, size: null })).toBeNull()
  })

  it('AMB-24 do not replace an existing object', async () => {
    const { url, headers } = (await provider.uploadTarget(id, TERMS))!
    expect(await put(url, headers)).toBe(200)
    expect(await put(url, headers, 'other')).toBe(412)
    expect(await put(url, { 'content-type': TERMS.contentType }, 'other')).toBe(403)
    expect(await fetchBytes(provider, { id, ref: null })).toEqual(Buffer.from('hello'))
  })

  it('return an object, or a range of it, with the content type that was signed', async () => {
    const key = await keep(provider, Buffer.from('0123456789'))
    const { url } = (await provider.downloadTarget(key, TERMS))!
    const whole = await fetch(url)
    expect([whole.status, whole.headers.get('content-type'), await whole.text()]).toEqual([
      200,
      TERMS.contentType,
      '0123456789',
    ])
    const part = await fetch(url, { headers: { range: 'bytes=2-4' } })
    expect([part.status, await part.text()]).toEqual([206, '234'])
    expect((await fetch(url.replace(/response-content-type=[^&]*/, 'response-content-type=text%2Fhtml'))).status).toBe(
      403,
    )
  })

  it('SHORT-05 are valid for one object, one method and a limited time', async () => {
    const key = await keep(provider, Buffer.from('kept'))
    const download = (await provider.downloadTarget(key, TERMS))!
    const upload = (await provider.uploadTarget(id, TERMS))!
    expect((await fetch(download.url.replace(key.id, id))).status).toBe(403)
    expect(await put(download.url, {})).toBe(403)
    expect((await fetch(upload.url, { headers: upload.headers })).status).toBe(403)
    for (const method of ['DELETE', 'POST']) expect((await fetch(download.url, { method })).status).toBe(403)
    expect((await fetch(`${download.url}&uploads=`)).status).toBe(403)
    now += 58_000
    expect((await fetch(download.url)).status).toBe(200)
    now += 3_000
    expect((await fetch(download.url)).status).toBe(403)
    expect(await put(upload.url, upload.headers)).toBe(403)
    await expect(provider.uploadTarget('../x', TERMS)).rejects.toThrow(RangeError)
  })
})
