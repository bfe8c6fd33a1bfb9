import { afterAll, beforeAll, expect, it } from 'vitest'
import { fetchBytes, keep, newId } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const TYPE = 'text/plain; charset=utf-8'
const TERMS = { contentType: TYPE, expiresInSeconds: 600, size: 5, maxBytes: 100 }

let gcs: TestGcs
let now = 0
beforeAll(async () => {
  gcs = await startTestGcs({ now: () => Date.now() + now })
})
afterAll(() => gcs.close())

const put = (url: string, headers: Record<string, string>, body = 'hello') =>
  fetch(url, { method: 'PUT', headers, body }).then(({ status }) => status)

it('AMB-21 the Google Cloud Storage driver redirects no client unless redirects are enabled', async () => {
  const key = { id: newId(), ref: null }
  const targets = async (redirect: 'off' | 'get' | 'all') => {
    const provider = await gcs.open({ redirect })
    const made = [await provider.uploadTarget(key.id, TERMS), await provider.downloadTarget(key, TERMS)]
    for (const target of made) if (target) expect(new URL(target.url).origin).toBe(provider.redirectsTo)
    return [...made.map((target) => target !== null), provider.redirectsTo !== undefined]
  }
  expect(await targets('off')).toEqual([false, false, false])
  expect(await targets('get')).toEqual([false, true, true])
  expect(await targets('all')).toEqual([true, true, true])
})

it('SHORT-09 AMB-61 a signed upload address of Google Cloud Storage accepts only the content type that was signed', async () => {
  const provider = await gcs.open({ redirect: 'all' })
  const id = newId()
  const { url, headers } = (await provider.uploadTarget(id, TERMS))!
  expect(headers).toEqual({ 'content-type': TYPE, ...provider.uploadHeaders!(TERMS.maxBytes) })
  expect(await put(url, { 'content-type': 'text/html' })).toBe(403)
  expect(await put(url, { 'content-type': 'text/plain' })).toBe(403)
  expect(await fetch(url, { headers }).then(({ status }) => status)).toBe(403)
  expect(await put(url.replace(id, newId()), headers)).toBe(403)
  expect(await put(url.replace('X-Goog-Expires=600', 'X-Goog-Expires=6000'), headers)).toBe(403)
  expect(await provider.stat({ id, ref: null })).toBeNull()
  expect(await put(url, { 'content-type': TYPE })).toBe(403)
  expect(await put(url, headers)).toBe(200)
  expect(await put(url, headers, 'changed afterwards')).toBe(412)
  expect(await fetchBytes(provider, { id, ref: null })).toEqual(Buffer.from('hello'))
  expect(gcs.server.objects().find(({ name }) => name.endsWith(id))).toMatchObject({ contentType: TYPE })
})

it('T-50 a signed upload address of Google Cloud Storage takes no more than was allowed', async () => {
  const provider = await gcs.open({ redirect: 'all' })
  const id = newId()
  const { url, headers } = (await provider.uploadTarget(id, TERMS))!
  const { 'x-goog-content-length-range': range, ...without } = headers
  expect(range).toBe('0,100')
  expect(await put(url, headers, 'x'.repeat(101))).toBe(400)
  expect(await put(url, without, 'x'.repeat(101))).toBe(403)
  expect(await put(url, { ...without, 'x-goog-content-length-range': '0,1000' }, 'x'.repeat(101))).toBe(403)
  expect(await provider.stat({ id, ref: null })).toBeNull()
  expect(await put(url, headers, 'x'.repeat(100))).toBe(200)
})

it('AMB-61 a client that was not told of the limit uploads to Google Cloud Storage without it', async () => {
  const provider = await gcs.open({ redirect: 'all' })
  const { url, headers } = (await provider.uploadTarget(newId(), { ...TERMS, maxBytes: null }))!
  expect(Object.keys(headers)).toEqual(['content-type', 'x-goog-if-generation-match'])
  expect(await put(url, headers)).toBe(200)
})

it('SHORT-09 a signed download address of Google Cloud Storage returns the object, or a range of it, with the content type that was signed', async () => {
  const provider = await gcs.open({ redirect: 'get' })
  const key = await keep(provider, Buffer.from('hello'))
  const { url, headers } = (await provider.downloadTarget(key, TERMS))!
  expect(headers).toEqual({})
  const answer = await fetch(url)
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, TYPE, 'hello'])
  const part = await fetch(url, { headers: { range: 'bytes=1-3' } })
  expect([part.status, await part.text()]).toEqual([206, 'ell'])
  const tampered = url.replace(encodeURIComponent(TYPE), 'text%2Fhtml')
  expect(tampered).not.toBe(url)
  expect((await fetch(tampered)).status).toBe(403)
  expect(await put(url, {})).toBe(403)
})

it('signed addresses of Google Cloud Storage expire on time', async () => {
  const provider = await gcs.open({ redirect: 'get' })
  const { url } = (await provider.downloadTarget(await keep(provider, Buffer.of(1)), TERMS))!
  const statusAfter = async (seconds: number) => {
    now = seconds * 1000
    const { status } = await fetch(url)
    now = 0
    return status
  }
  expect([await statusAfter(0), await statusAfter(500), await statusAfter(601)]).toEqual([200, 200, 403])
})

it('T-05 the Google Cloud Storage driver signs no address for an invalid id', async () => {
  const provider = await gcs.open({ redirect: 'all' })
  await expect(provider.uploadTarget('../secret', TERMS)).rejects.toThrow(RangeError)
  await expect(provider.downloadTarget({ id: '../secret', ref: null }, TERMS)).rejects.toThrow(RangeError)
})
