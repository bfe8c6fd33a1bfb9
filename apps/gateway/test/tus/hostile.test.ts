import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { listed, publicBytes } from '../transfers/sessions/sessions.ts'
import { CHUNK, create, here, metadata, send, type TestUpload, tusToken } from './uploads.ts'

const owner = ed25519Identity()
let house: LockerHouse
let locker: TestLocker
let token: string
let endpoint: string
beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(owner)
  token = await tusToken(locker)
  endpoint = `${house.gateway.url}/v1/lockers/${locker.lockerId}/tus`
})
afterAll(() => house.close())

const named = (filename: string, length: number) => ({ 'upload-length': `${length}`, ...metadata({ filename }) })
const post = (headers: Record<string, string>, body?: string) =>
  send(endpoint, 'POST', { 'x-upload-token': token, ...headers }, body)

/** Sends the head of a chunk and some of its bytes. */
function begin({ url }: TestUpload, offset: number, length: number, bytes: Uint8Array) {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const head = [
    `PATCH ${pathname} HTTP/1.1`,
    `Host: ${hostname}`,
    'Tus-Resumable: 1.0.0',
    'Content-Type: application/offset+octet-stream',
    `Upload-Offset: ${offset}`,
    `Content-Length: ${length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(bytes)
  return socket
}

async function offsetOf(upload: TestUpload): Promise<number> {
  return Number((await upload.head()).headers['upload-offset'])
}

it('T-99 what arrived before a connection broke is kept, and the upload goes on from there', async () => {
  const bytes = randomBytes(600_000)
  const upload = await create(house, locker, token, named('cut', 600_000))
  const socket = begin(upload, 0, 600_000, bytes.subarray(0, 400_000))
  // Until the gateway has some of it: HEAD asks the request to stop.
  let offset = 0
  await expect.poll(async () => (offset = await offsetOf(upload))).toBeGreaterThan(0)
  socket.destroy()
  offset = await offsetOf(upload)
  expect(offset).toBeLessThanOrEqual(400_000)
  expect((await upload.patch(offset, bytes.subarray(offset))).status).toBe(204)
  expect(await publicBytes(house, locker, 'cut')).toEqual(bytes)
})

it('T-99 of two chunks at the same offset at most one counts, and no byte is mixed', async () => {
  const [a, b] = [Buffer.alloc(300_000, 'a'), Buffer.alloc(300_000, 'b')]
  const upload = await create(house, locker, token, named('race', 300_000))
  const replies = await Promise.all([upload.patch(0, a), upload.patch(0, b)])
  const offset = await offsetOf(upload)
  for (const { status } of replies) expect([204, 409, 403]).toContain(status)
  if (offset < 300_000) await upload.patch(offset, a.subarray(offset))
  const stored = await publicBytes(house, locker, 'race')
  expect(stored.length).toBe(300_000)
  // Requests write one after the other, so there is one border at most.
  expect(stored.toString().replace(/(.)\1+/g, '$1').length).toBeLessThanOrEqual(2)
})

it('T-99 wrong offsets, types, versions and lengths are refused, and change nothing', async () => {
  const upload = await create(house, locker, token, named('refused', 10))
  const patch = (headers: Record<string, string>, body = '0123') =>
    send(upload.url, 'PATCH', { ...CHUNK, 'upload-offset': '0', ...headers }, body)
  const refusals = await Promise.all([
    patch({ 'upload-offset': '1' }),
    patch({ 'upload-offset': '' }),
    patch({ 'upload-offset': '-1' }),
    patch({ 'upload-offset': '9007199254740993' }),
    patch({ 'content-type': 'application/octet-stream' }),
    patch({ 'content-encoding': 'gzip' }),
    patch({ 'tus-resumable': '' }),
    patch({ 'tus-resumable': '0.2.2' }),
    patch({}, '01234567890'),
    patch({ 'transfer-encoding': 'chunked' }, '01234567890'),
    patch({ 'upload-checksum': 'sha512 AAAA' }),
    patch({ 'upload-checksum': 'nothing' }),
    patch({ 'upload-length': '11' }),
  ])
  expect(refusals.map(({ status }) => status)).toEqual([
    409, 422, 422, 422, 415, 415, 412, 412, 413, 413, 400, 422, 422,
  ])
  for (const { headers } of refusals) expect(headers['tus-resumable']).toBe('1.0.0')
  expect(refusals[6]?.headers['tus-version']).toBe('1.0.0')
  expect(await offsetOf(upload)).toBe(0)
})

it('T-99 creations that make no sense are refused', async () => {
  const long = metadata({ filename: 'x', more: 'x'.repeat(5000) })
  const keys = metadata(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, 'x'])))
  const refusals = await Promise.all([
    post({}),
    post({ 'upload-length': 'x' }),
    post({ 'upload-length': '5', 'upload-defer-length': '1' }),
    post({ 'upload-defer-length': '2' }),
    post({ 'upload-length': '9000000000000000' }),
    post({ 'upload-length': '5', ...long }),
    post({ 'upload-length': '5', ...keys }),
    post({ 'upload-length': '5', 'upload-metadata': 'filename !' }),
    post({ 'upload-length': '5', 'upload-metadata': 'a YQ==,a YQ==' }),
    post({ 'upload-length': '5', ...metadata({ filename: '../x' }) }),
    post({ 'upload-length': '5', ...metadata({ filename: 'x', filetype: 'a\nb' }) }),
    post({ 'upload-length': '5', ...metadata({ filename: 'x', expected_hash: 'ff' }) }),
    post({ 'upload-length': '5', 'upload-concat': 'whole' }),
    post({ 'upload-length': '5' }, 'bytes'),
    post({ 'upload-length': '5', 'tus-resumable': '' }),
  ])
  expect(refusals.map(({ status }) => status)).toEqual([
    422, 422, 422, 422, 413, 422, 422, 422, 422, 422, 422, 422, 422, 415, 412,
  ])
  for (const { headers } of refusals) expect(headers['tus-resumable']).toBe('1.0.0')
})

it('T-99 only a token of this locker, key and time creates uploads', async () => {
  const other = await house.locker(ed25519Identity())
  const foreign = await tusToken(other)
  for (const bad of ['', 'x', foreign, `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`]) {
    expect(await post({ 'upload-length': '5', 'x-upload-token': bad })).toMatchObject({
      status: 401,
      error: 'UPLOAD_TOKEN_INVALID',
    })
  }
  const short = await tusToken(locker, { ttl_min: 1 })
  const upload = await create(house, locker, short, named('in-time', 4))
  house.clock.advance(61)
  expect((await post({ 'upload-length': '5', 'x-upload-token': short })).status).toBe(401)
  expect((await upload.patch(0, 'time')).status).toBe(204)
})

it('T-99 a removed operator creates and continues nothing', async () => {
  const operator = ed25519Identity()
  await locker.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
  const theirs = await tusToken(locker, {}, operator)
  const upload = await create(house, locker, theirs, named('theirs', 10))
  expect((await upload.patch(0, '01234')).status).toBe(204)
  await locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
  expect((await post({ 'upload-length': '5', 'x-upload-token': theirs })).status).toBe(401)
  expect([(await upload.head()).status, (await upload.patch(5, '56789')).status]).toEqual([410, 410])
  expect(await listed(locker, 'theirs')).toBeUndefined()
})

it('T-99 a prefix holds, whatever the client calls its files', async () => {
  const confined = await tusToken(locker, { prefix: 'inbox/' })
  const names = await Promise.all(
    [{ filename: 'a' }, { filename: 'a', relativePath: '/b/a' }, { filename: 'c', relativePath: '/' }, {}].map(
      async (pairs) => (await create(house, locker, confined, { 'upload-length': '1', ...metadata(pairs) })).created,
    ),
  )
  expect(names.map(({ headers }) => headers['svc-filename'])).toEqual([
    'inbox/a',
    'inbox/b/a',
    'inbox/c',
    expect.stringMatching(/^inbox\/file_[0-9a-f]{16}$/),
  ])
  const bad = await locker.call(['locker:write'], 'POST', '/tus/tokens', { prefix: '../' })
  expect(bad.status).toBe(422)
})

it('T-99 an upload ends by the clock, and is found by nobody who guesses', async () => {
  const upload = await create(house, locker, token, named('slow', 10))
  await upload.patch(0, '01234')
  house.clock.advance(86_400)
  expect([(await upload.head()).status, (await upload.patch(5, '5')).status]).toEqual([410, 410])
  for (const id of ['x', 'A'.repeat(43), 'A'.repeat(44)]) {
    expect((await send(`${house.gateway.url}/v1/tus/${id}`, 'HEAD')).status).toBe(404)
  }
})

it('T-99 partial uploads of others, unfinished, repeated or too many are not joined', async () => {
  token = await tusToken(locker)
  const partial = { 'upload-concat': 'partial', 'upload-length': '3' }
  const other = await house.locker(ed25519Identity())
  const theirs = await create(house, other, await tusToken(other), { ...partial, ...CHUNK }, 'abc')
  const [open, whole] = [await create(house, locker, token, partial), await create(house, locker, token, named('w', 3))]
  const mine = await create(house, locker, token, { ...partial, ...CHUNK }, 'abc')
  const final = (...urls: string[]) =>
    post({ 'upload-concat': `final;${urls.join(' ')}`, ...metadata({ filename: 'j' }) })
  const refusals = [
    await final(mine.url, theirs.url),
    await final(mine.url, open.url),
    await final(mine.url, whole.url),
    await final(mine.url, mine.url),
    await final(mine.url, `${house.gateway.url}/v1/tus/${'A'.repeat(43)}`),
    await final(),
    await final(...Array.from({ length: 101 }, (_, i) => `/v1/tus/${`${i}`.padStart(43, 'A')}`)),
    await final('https://example.com/else'),
  ]
  for (const { status, error, text } of refusals) expect([status, error], text).toEqual([400, 'TUS_CONCAT_INVALID'])
  expect((await post({ 'upload-concat': `final;${mine.url}`, 'upload-length': '3' })).status).toBe(422)
  // Nothing of this has used the partial upload up.
  const joined = await final(mine.url)
  expect([joined.status, joined.headers['upload-offset']]).toEqual([201, '3'])
  expect((await final(mine.url, open.url)).status).toBe(400)
  expect(here(house, joined.headers.location as string)).not.toBe(mine.url)
})

it('T-99 the URL of an upload opens no upload session', async () => {
  const { url } = await create(house, locker, token, named('apart', 10))
  const { db } = house.gateway.context.database
  const { session_id } = await db
    .selectFrom('upload_sessions')
    .select('session_id')
    .where('closed_at', 'is', null)
    .orderBy('opened_at', 'desc')
    .executeTakeFirstOrThrow()
  const headers = { 'x-upload-token': url.slice(url.lastIndexOf('/') + 1) }
  const { status } = await house.send('POST', `/v1/upload-sessions/${session_id}/finalize`, undefined, headers)
  expect([401, 404]).toContain(status)
})
