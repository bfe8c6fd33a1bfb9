import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { createFile, errorOf, leftovers, put, rawUpload, rowOf, sha256 } from './transfers.ts'

const MAX = 200_000
const RECOVERY_DETAILS = { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) }

const instance = forAllTests(() => openTestGateway({ MAX_UPLOAD_BYTES: String(MAX) }))
const locker = forEachTest(() => instance.locker(ed25519Identity()))
const urls = forEachTest(() => createFile(instance, locker, 'a.txt'))

const textOf = async (url: string) => (await fetch(url)).text()

/** Expects a refusal that leaves the file and the storage unchanged. */
async function expectNothingChanged(attempt: (upload: string) => Promise<Response>, status: number, error: string) {
  const [rowBefore, before] = [await rowOf(instance, locker, 'a.txt'), await leftovers(instance.gateway)]
  const response = await attempt(urls.upload)
  const body = (await response.json()) as { error: string; details: unknown }
  expect([response.status, body.error]).toEqual([status, error])
  expect(body.details).toMatchObject(RECOVERY_DETAILS)
  expect(await rowOf(instance, locker, 'a.txt')).toEqual(rowBefore)
  expect(await leftovers(instance.gateway)).toEqual(before)
  return body
}

it('SHORT-11 AMB-24 an upload is stored and awaits confirmation', async () => {
  const response = await put(urls.upload, 'hello')
  expect([response.status, await response.json()]).toEqual([
    200,
    { ok: true, locker_id: locker.lockerId, filename: 'a.txt', size_bytes: 5, status: 'awaiting_confirmation' },
  ])
  expect(response.headers.get('cache-control')).toBe('private, no-store')
  expect(await rowOf(instance, locker, 'a.txt')).toMatchObject({ content_hash: null, size_bytes: null })
  expect(await textOf(urls.download)).toBe('hello')
})

it('SHORT-05 SHORT-11 an upload URL works repeatedly, also without a length, and the last upload wins', async () => {
  for (const text of ['one', 'two', '']) {
    for (const body of [text, new Blob([text, text]).stream()]) expect((await put(urls.upload, body)).status).toBe(200)
    expect(await textOf(urls.download)).toBe(text + text)
  }
})

it('AMB-24 an upload over confirmed bytes clears their recorded hash', async () => {
  await locker.put('a.txt', 'hello')
  const { object_id, content_hash } = await rowOf(instance, locker, 'a.txt')
  expect(content_hash).toBe(`sha256:${sha256('hello')}`)
  await createFile(instance, locker, 'a.txt')
  expect((await rowOf(instance, locker, 'a.txt')).content_hash).toBe(content_hash)
  await put(urls.upload, 'other')
  expect(await rowOf(instance, locker, 'a.txt')).toMatchObject({ content_hash: null, hash_recorded_at: null })
  expect((await leftovers(instance.gateway)).released).toContain(object_id)
  expect((await fetch(urls.download)).headers.get('etag')).toMatch(/^"object:[0-9a-f]{32}"$/)
})

it('FILE-09 SHORT-06 a new content type applies from the next upload, which must have it', async () => {
  await locker.put('typed.txt', 'hello')
  const type = 'application/pdf; v=1'
  const { upload, download } = await createFile(instance, locker, 'typed.txt', { contentType: type })
  expect((await fetch(download)).headers.get('content-type')).toBe('text/plain')
  expect(await errorOf(await put(upload, 'pdf'))).toEqual([403, 'CONTENT_TYPE_MISMATCH'])
  expect((await put(upload, 'pdf', { 'content-type': 'Application/PDF;V="1"' })).status).toBe(200)
  expect((await fetch(download)).headers.get('content-type')).toBe(type)
})

it('SHORT-11 an upload is stored byte for byte: JSON and forms are not decoded', async () => {
  const bytes = Uint8Array.from({ length: 1024 }, (_, i) => i % 256)
  for (const contentType of ['application/json', 'application/x-www-form-urlencoded']) {
    const { upload, download } = await createFile(instance, locker, 'raw', { contentType })
    expect((await put(upload, bytes, { 'content-type': contentType })).status).toBe(200)
    expect(new Uint8Array(await (await fetch(download)).arrayBuffer())).toEqual(bytes)
  }
})

const OTHER_TYPES = ['text/html', 'text/plain; charset=utf-8', '', '*/*', 'é/x', 'a/b'.repeat(2000)]
it.each(OTHER_TYPES)('SHORT-06 ERR-16 a body of type %j for text/plain answers 403', async (sent) => {
  const headers = { 'content-type': Buffer.from(sent).toString('latin1') }
  const body = await expectNothingChanged((url) => put(url, 'x', headers), 403, 'CONTENT_TYPE_MISMATCH')
  expect(body).toMatchObject({ details: { expected: 'text/plain' } })
})

it('SHORT-06 SHORT-07 a body without a type answers 403, and the token is checked before the type', async () => {
  const [response] = await once(httpRequest(urls.upload, { method: 'PUT' }).end('x'), 'response')
  expect(response.resume().statusCode).toBe(403)
  const garbage = await put(`${urls.upload}A`, 'x', { 'content-type': 'garbage' })
  expect(await errorOf(garbage)).toEqual([403, 'SHORT_URL_INVALID'])
})

it.each(['GZIP', 'gzip, identity', 'aws-chunked'])('T-11 the Content-Encoding %s answers 415', async (encoding) => {
  const headers = { 'content-encoding': encoding }
  await expectNothingChanged((url) => put(url, 'x', headers), 415, 'unsupported_encoding')
})

it('T-11 the encoding identity is accepted, and a compressed transfer encoding answers 501', async () => {
  expect((await put(urls.upload, 'x', { 'content-encoding': 'Identity' })).status).toBe(200)
  const headers = { 'content-type': 'text/plain', 'transfer-encoding': 'gzip, chunked' }
  const [response] = await once(httpRequest(urls.upload, { method: 'PUT', headers }).end('x'), 'response')
  expect(response.resume().statusCode).toBe(501)
})

it('T-11 a client that waits for 100 Continue gets it only for an upload that is accepted', async () => {
  const answerTo = async (socket: Socket) => String((await once(socket, 'data'))[0]).split('\r\n')[0]
  const begin = (url: string, type: string) =>
    rawUpload(url, [`Content-Type: ${type}`, 'Expect: 100-continue', 'Content-Length: 5'])
  for (const refused of [begin(urls.upload, 'image/png'), begin(`${urls.upload}x`, 'text/plain')])
    expect(await answerTo(refused)).toBe('HTTP/1.1 403 Forbidden')
  const accepted = begin(urls.upload, 'text/plain')
  expect(await answerTo(accepted)).toBe('HTTP/1.1 100 Continue')
  accepted.write('hello')
  expect(await answerTo(accepted)).toBe('HTTP/1.1 200 OK')
})

it('SHORT-11 a Content-Range answers 422', async () => {
  const headers = { 'content-range': 'bytes 0-0/10' }
  const body = await expectNothingChanged((url) => put(url, 'x', headers), 422, 'validation_error')
  expect(body).toMatchObject({ detail: [{ loc: ['header', 'Content-Range'] }] })
})

it('T-11 an upload with a contradictory or invalid length is refused', async () => {
  for (const headers of [
    ['Content-Length: 1', 'Content-Length: 2'],
    ['Content-Length: 1', 'Transfer-Encoding: chunked'],
    ['Content-Length: -1'],
    ['Content-Length: 0x10'],
    ['Content-Length: 99999999999999999999999'],
  ]) {
    const socket = rawUpload(urls.upload, ['Content-Type: text/plain', ...headers], 'x')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 4(00|13) /)
  }
  expect((await rowOf(instance, locker, 'a.txt')).object_id).toBeNull()
})

it('LIM-12 an upload above the limit answers 413, with or without a declared length', async () => {
  const tooMuch = new Uint8Array(MAX + 1)
  const stream = () => new Blob([tooMuch]).stream()
  await expectNothingChanged((url) => put(url, tooMuch), 413, 'UPLOAD_TOO_LARGE')
  await expectNothingChanged((url) => put(url, stream()), 413, 'UPLOAD_TOO_LARGE')
  await expectNothingChanged((url) => put(`${url}?proxy=1`, stream()), 413, 'UPLOAD_TOO_LARGE')
})

it('LIM-12 an upload with a declared length above the limit is refused before its body arrives', async () => {
  const socket = rawUpload(urls.upload, ['Content-Type: text/plain', `Content-Length: ${5 * 1024 ** 4}`])
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 413 .*UPLOAD_TOO_LARGE/s)
})

it('LIM-12 an upload may have exactly the maximum size', async () => {
  const bytes = new Uint8Array(MAX)
  for (const body of [bytes, new Blob([bytes]).stream()])
    expect(await (await put(urls.upload, body)).json()).toMatchObject({ size_bytes: MAX })
})

it('LIM-12 a client that sends far more than the limit still gets the answer 413', { tags: ['nightly'] }, async () => {
  for (const headers of [{ 'content-length': String(64 * 1_048_576) }, {}] as Record<string, string>[]) {
    const request = httpRequest(urls.upload, { method: 'PUT', headers: { 'content-type': 'text/plain', ...headers } })
    request.on('error', () => {})
    for (let i = 0; i < 63; i++) request.write(Buffer.alloc(1_048_576))
    const [response] = await once(request, 'response')
    expect(response.statusCode).toBe(413)
    request.destroy()
  }
  await expect.poll(async () => (await leftovers(instance.gateway)).incoming).toEqual([])
})
