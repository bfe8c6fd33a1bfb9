import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type Reply } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { leftovers, sha256 } from '../transfers.ts'
import { openTestSession, publicBytes, type TestSession } from './sessions.ts'

const PART_MAX = 300_000
const RAW = { 'content-type': 'application/octet-stream' }
const LIMITS = { FILE_LIMITS: `part_bytes=${PART_MAX}`, MAX_UPLOAD_BYTES: '1000000' }
const instance = forAllTests(() => openTestGateway(LIMITS))
const locker = forAllTests(() => instance.locker(ed25519Identity()))
const session = forEachTest(() => {
  const files = [{ filename: 'a' }, { filename: 'b', size_bytes: 10 }]
  return openTestSession(instance, locker, { files })
})

/** Sends a body unchanged, with the session's token. */
const post = (body: unknown, headers: Record<string, string> = {}, query = '', file = 0) =>
  instance.send<Record<string, unknown>>('POST', session.partsPath(file) + query, body, {
    ...session.headers,
    ...headers,
  })

const objectCount = async () => {
  const { writing, held } = await leftovers(instance.gateway)
  return writing.length + held.length
}

/** Expects a refusal that stores nothing. */
async function expectNothingStored(send: () => Promise<Reply<unknown>>, status: number, code: string) {
  const before = [await objectCount(), (await session.status()).body]
  const reply = await send()
  expectRefusal(reply, status, code)
  expect([await objectCount(), (await session.status()).body]).toEqual(before)
  return reply.body as { details?: Record<string, unknown>; detail?: { loc: unknown[] }[] }
}

const RECOVERY_DETAILS = { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) }

it.each([
  ['data', '{"index":0,"data":"QUJD QUJD"}'],
  ['data', '{"index":0,"data":["QQ=="]}'],
  ['index', '{"data":"QQ=="}'],
  ['index', '{"index":100000,"data":"QQ=="}'],
  ['index', '{"index":"0","data":"QQ=="}'],
  ['sha256', '{"index":0,"data":"QQ==","sha256":"abc"}'],
])('T-11 SESS-02 an invalid %s is refused in a JSON part: %s', async (field, text) => {
  const body = await expectNothingStored(() => post(text), 422, 'validation_error')
  expect(body.detail?.map(({ loc }) => loc)).toContainEqual(['body', field])
  expect(body.details).toMatchObject(RECOVERY_DETAILS)
})

it.each([
  ['half a document', '{"index":0,"data":"QQ=='],
  ['data twice', '{"index":0,"data":"QQ==","data":"QUI="}'],
])('T-11 %s is refused as a JSON part', async (_, body) => {
  await expectNothingStored(() => post(body), 422, 'validation_error')
})

it('ADD-11 a part without a content type or with any JSON type is read as JSON', async () => {
  for (const type of ['application/json; charset=utf-8', 'application/problem+json'])
    expect((await post('{"index":0,"data":"QQ=="}', { 'content-type': type })).status).toBe(200)
  const untyped = await sendChunked([Buffer.from('{"index":0,'), Buffer.from('"data":"QQ=="}')])
  expect(untyped.status).toBe(200)
})

it('LIM-12 T-11 a JSON part may have the maximum size, and not one byte more', async () => {
  const exact = randomBytes(PART_MAX)
  const { status, body } = await session.part(0, exact)
  expect([status, body.received_bytes, body.sha256]).toEqual([200, PART_MAX, sha256(exact)])
  const refused = await expectNothingStored(() => session.part(0, randomBytes(PART_MAX + 1)), 413, 'UPLOAD_TOO_LARGE')
  expect(refused.details).toMatchObject({ ...RECOVERY_DETAILS, max_bytes: PART_MAX })
  const chunked = [Buffer.from('{"index":0,"data":"'), ...Array(20).fill(Buffer.alloc(60_000, 'A')), Buffer.from('"}')]
  await expectNothingStored(() => sendChunked(chunked), 413, 'UPLOAD_TOO_LARGE')
  await expectNothingStored(() => post({ index: 0, data: '', more: 'x'.repeat(20_000) }), 413, 'body_too_large')
})

it('SESS-02 an index in the query must equal the index in a JSON part', async () => {
  expect((await post('{"index":0,"data":"QQ=="}', {}, '?index=0')).status).toBe(200)
  await expectNothingStored(() => post('{"index":0,"data":"QQ=="}', {}, '?index=1'), 422, 'validation_error')
})

it('SESS-02 a raw part is accepted with a content length or chunked', async () => {
  const bytes = randomBytes(PART_MAX)
  expect((await session.raw(0, bytes, { sha256: '' })).body).toMatchObject({
    received_bytes: PART_MAX,
    sha256: sha256(bytes),
  })
  const chunked = await sendChunked([bytes.subarray(0, 1), bytes.subarray(1)], RAW, '?index=0')
  expect(chunked.body).toMatchObject({ received_bytes: PART_MAX, sha256: sha256(bytes) })
  expect((await session.raw(0, '')).body).toMatchObject({ received_bytes: 0, sha256: sha256('') })
})

it('SESS-02 a raw part needs an index from 0 to 99,999', async () => {
  for (const query of ['', '?index=-1', '?index=100000', '?index=1.0'])
    await expectNothingStored(() => post(Buffer.from('a'), RAW, query), 422, 'validation_error')
  expect((await session.raw(99_999, 'x')).status).toBe(200)
})

it('LIM-12 T-11 a raw part that is one byte too large is refused, with or without a declared length', async () => {
  const large = randomBytes(PART_MAX + 1)
  await expectNothingStored(() => session.raw(0, large), 413, 'UPLOAD_TOO_LARGE')
  const chunked = () => sendChunked([large.subarray(0, PART_MAX), large.subarray(PART_MAX)], RAW, '?index=0')
  const refused = await expectNothingStored(chunked, 413, 'UPLOAD_TOO_LARGE')
  expect(refused.details).toMatchObject({ ...RECOVERY_DETAILS, max_bytes: PART_MAX })
})

it('T-11 a part of another content type or with a content encoding is refused', async () => {
  for (const type of ['multipart/form-data; boundary=x', 'application/octet-streams']) {
    const body = await expectNothingStored(
      () => post(Buffer.from('a'), { 'content-type': type }, '?index=0'),
      415,
      'unsupported_media_type',
    )
    expect(body.details).toMatchObject(RECOVERY_DETAILS)
  }
  const gzip = { 'content-encoding': 'gzip' }
  await expectNothingStored(() => post(gzipSync('a'), { ...RAW, ...gzip }, '?index=0'), 415, 'unsupported_encoding')
  await expectNothingStored(() => post(gzipSync('{"index":0}'), gzip), 415, 'unsupported_encoding')
  expect((await post(Buffer.from('a'), { ...RAW, 'content-encoding': 'identity' }, '?index=0')).status).toBe(200)
})

it('SESS-02 SESS-06 a part must match its sha256, or nothing is stored', async () => {
  const right = sha256('right')
  for (const sha of [right, right.toUpperCase(), `sha256:${right}`]) {
    expect((await session.part(0, 'right', { sha256: sha })).status).toBe(200)
    expect((await session.raw(0, 'right', { sha256: sha })).status).toBe(200)
  }
  for (const send of [session.part, session.raw]) {
    const { details } = await expectNothingStored(() => send(0, 'wrong', { sha256: right }), 409, 'HASH_MISMATCH')
    const hashes = { ...RECOVERY_DETAILS, expected: `sha256:${right}`, actual: `sha256:${sha256('wrong')}` }
    expect(details).toMatchObject(hashes)
  }
  await expectNothingStored(() => session.raw(0, 'right', { sha256: 'abc' }), 422, 'validation_error')
})

it('SESS-06 a part must belong to a file of the session', async () => {
  const path = session.partsPath(0).replace('f_0001', 'f_0009')
  const reply = await instance.send('POST', path, { index: 0, data: '' }, session.headers)
  expectRefusal(reply, 404, 'FILE_NOT_FOUND')
  expect(reply.body).toMatchObject({ details: RECOVERY_DETAILS })
})

it('LIM-12 the parts of a file together must not exceed its declared size', async () => {
  expect((await session.raw(0, '12345', { file: 1 })).body.total_received_bytes).toBe(5)
  expect((await session.part(1, '67890', { file: 1 })).body.total_received_bytes).toBe(10)
  await expectNothingStored(() => session.raw(2, 'x', { file: 1 }), 413, 'UPLOAD_TOO_LARGE')
  await expectNothingStored(() => session.part(1, '67890x', { file: 1 }), 413, 'UPLOAD_TOO_LARGE')
  expect((await session.raw(1, '678', { file: 1 })).body.total_received_bytes).toBe(8)
  expect((await session.raw(2, '90', { file: 1 })).body.total_received_bytes).toBe(10)
  await expectNothingStored(() => session.raw(3, '12345678901', { file: 1 }), 413, 'UPLOAD_TOO_LARGE')
})

it('LIM-12 the parts of a file together must not exceed the upload limit', async () => {
  for (const index of [0, 1, 2]) await session.raw(index, randomBytes(PART_MAX))
  expectRefusal(await session.raw(3, randomBytes(PART_MAX)), 413, 'UPLOAD_TOO_LARGE')
  expect((await session.raw(3, randomBytes(100_000))).body.total_received_bytes).toBe(1_000_000)
})

it('SESS-02 a part with the same index replaces the earlier one, whose object is released', async () => {
  const again = await openTestSession(instance, locker, { files: [{ filename: 'again' }] })
  await again.raw(0, 'first')
  const before = await objectCount()
  expect((await again.part(0, 'second one')).body).toMatchObject({ received_bytes: 10, total_received_bytes: 10 })
  expect(await objectCount()).toBe(before)
  expect((await again.status()).body.files).toMatchObject([{ parts: 1, received_bytes: 10 }])
  expect((await again.finalize()).body.status).toBe('complete')
  expect(String(await publicBytes(instance, locker, 'again'))).toBe('second one')
})

/** Sends no content length, and by default no content type. */
function sendChunked(
  chunks: readonly Buffer[],
  headers: Record<string, string> = {},
  query = '',
): Promise<Reply<Record<string, unknown>>> {
  const { hostname, port } = new URL(instance.gateway.url)
  const path = session.partsPath(0) + query
  const { promise, resolve, reject } = Promise.withResolvers<Reply<Record<string, unknown>>>()
  const outgoing = request({ hostname, port, method: 'POST', path, headers: { ...session.headers, ...headers } })
  outgoing.on('error', reject).on('response', async (response) => {
    const body = JSON.parse(await text(response))
    resolve({ status: response.statusCode ?? 0, headers: new Headers(), body })
  })
  for (const chunk of chunks) outgoing.write(chunk)
  outgoing.end()
  return promise
}

const objects = () => instance.gateway.context.database.db.selectFrom('objects').selectAll().execute()

/** Sends the headers of a part and the first bytes of its body. */
async function beginPart(
  session: TestSession,
  head: Record<string, string>,
  query: string,
  sent: Buffer,
): Promise<Socket> {
  const { hostname, port } = new URL(instance.gateway.url)
  const socket = connect(Number(port), hostname)
  const headers = { host: hostname, ...session.headers, ...head }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${session.partsPath(0)}${query} HTTP/1.1\r\n${lines.join('')}\r\n`)
  await new Promise((resolve) => socket.write(sent, resolve))
  return socket
}

const bytes = randomBytes(200_000)
const json = Buffer.from(JSON.stringify({ index: 1, data: bytes.toString('base64') }))
const raw = { 'content-type': 'application/octet-stream' }
it.each([
  ['raw', { ...raw, 'content-length': '200000' }, '?index=1', bytes.subarray(0, 150_000)],
  ['JSON', { 'content-type': 'application/json', 'content-length': String(json.length) }, '', json.subarray(0, -1)],
])('SESS-02 a connection that breaks leaves the session unchanged: %s', async (name, head, query, sent) => {
  const session = await openTestSession(instance, locker, { files: [{ filename: name }] })
  await session.raw(0, 'begin ')
  const before = await objects()
  const socket = await beginPart(session, head, query, sent)
  // The object has a row before its first byte is written.
  await expect.poll(objects).toHaveLength(before.length + 1)
  socket.destroy()
  await expect.poll(objects).toEqual(before)
  expect((await session.status()).body.files).toMatchObject([{ parts: 1, received_bytes: 6 }])

  await session.raw(1, bytes)
  expect((await session.finalize()).body.status).toBe('complete')
  expect(await publicBytes(instance, locker, name)).toEqual(Buffer.concat([Buffer.from('begin '), bytes]))
})

it('SESS-02 a part that is still arriving when the session expires is refused and leaves nothing', async () => {
  const session = await openTestSession(instance, locker, { files: [{ filename: 'ended' }], ttl_min: 1 })
  const before = await objects()
  const head = { ...raw, 'content-length': '200000', connection: 'close' }
  const socket = await beginPart(session, head, '?index=0', bytes.subarray(0, 100_000))
  await expect.poll(objects).toHaveLength(before.length + 1)
  instance.clock.advance(61)
  socket.write(bytes.subarray(100_000))
  let answer = ''
  for await (const chunk of socket) answer += chunk
  expect(answer).toMatch(/^HTTP\/1\.1 409 /)
  expect(answer).toContain('SESSION_CLOSED')
  expect(await objects()).toEqual(before)
})
