import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { createTokenSealer } from '../../../src/auth/sealed-tokens.ts'
import { listed, publicBytes } from '../http/sessions/sessions.ts'
import { CHUNK, create, creationHeaders, here, metadata, send, type TestUpload, tusToken } from './uploads.ts'

const instance = forAllTests(openTestGateway)
const locker = forEachTest(() => instance.locker(ed25519Identity()))

const named = (filename: string, length: number) => creationHeaders(length, { filename })
const post = async (headers: Record<string, string>, body?: string) => {
  const token = headers['x-upload-token'] ?? (await tusToken(locker))
  const url = `${instance.gateway.url}/v1/lockers/${locker.lockerId}/tus`
  return send(url, 'POST', { ...headers, 'x-upload-token': token }, body)
}
const begun = async (headers: Record<string, string>, body?: string) =>
  create(instance, locker, await tusToken(locker), headers, body)

async function offsetOf(upload: TestUpload): Promise<number> {
  return Number((await upload.head()).headers['upload-offset'])
}

it('T-98 bytes that arrived before a connection broke are kept, and the upload resumes after them', async () => {
  const bytes = randomBytes(600_000)
  const upload = await begun(named('cut', 600_000))
  const head = { ...CHUNK, 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-length': '600000' }
  const sending = request(upload.url, { method: 'PATCH', headers: head }).on('error', () => {})
  sending.write(bytes.subarray(0, 400_000))
  // Wait until the gateway has some of the chunk: HEAD stops the request.
  let offset = 0
  await expect.poll(async () => (offset = await offsetOf(upload))).toBeGreaterThan(0)
  sending.destroy()
  offset = await offsetOf(upload)
  expect(offset).toBeLessThanOrEqual(400_000)
  expect((await upload.patch(offset, bytes.subarray(offset))).status).toBe(204)
  expect(await publicBytes(instance, locker, 'cut')).toEqual(bytes)
})

it('T-98 of two chunks at the same offset at most one counts, and their bytes are not mixed', async () => {
  const [a, b] = [Buffer.alloc(300_000, 'a'), Buffer.alloc(300_000, 'b')]
  const upload = await begun(named('race', 300_000))
  const replies = await Promise.all([upload.patch(0, a), upload.patch(0, b)])
  const offset = await offsetOf(upload)
  for (const { status } of replies) expect([204, 409, 403]).toContain(status)
  if (offset < 300_000) await upload.patch(offset, a.subarray(offset))
  const stored = await publicBytes(instance, locker, 'race')
  expect(stored.length).toBe(300_000)
  // Requests write one after the other, so there is at most one border between their bytes.
  expect(stored.toString().replace(/(.)\1+/g, '$1').length).toBeLessThanOrEqual(2)
})

type Refusal = [status: number, headers: Record<string, string>, body?: string]

it('T-98 wrong offsets, types, versions and lengths are refused, and change nothing', async () => {
  const upload = await begun(named('refused', 10))
  const refusals: Refusal[] = [
    [409, { 'upload-offset': '1' }],
    [422, { 'upload-offset': '' }],
    [422, { 'upload-offset': '9007199254740993' }],
    [415, { 'content-type': 'application/octet-stream' }],
    [415, { 'content-encoding': 'gzip' }],
    [412, { 'tus-resumable': '' }],
    [412, { 'tus-resumable': '0.2.2' }],
    [413, {}, '01234567890'],
    [413, { 'transfer-encoding': 'chunked' }, '01234567890'],
    [400, { 'upload-checksum': 'sha512 AAAA' }],
    [422, { 'upload-checksum': 'nothing' }],
    [422, { 'upload-length': '11' }],
  ]
  for (const [expected, changes, body = '0123'] of refusals) {
    const { status, headers } = await upload.patch(0, body, changes)
    expect([status, headers['tus-resumable']], JSON.stringify(changes)).toEqual([expected, '1.0.0'])
    expect(headers['tus-version']).toBe(status === 412 ? '1.0.0' : undefined)
  }
  expect(await offsetOf(upload)).toBe(0)
})

it('T-98 invalid creation requests are refused', async () => {
  const keys = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, 'x']))
  const refusals: Refusal[] = [
    [422, { 'upload-length': '' }],
    [422, { 'upload-length': 'x' }],
    [422, { 'upload-defer-length': '1' }],
    [422, { 'upload-length': '', 'upload-defer-length': '2' }],
    [413, { 'upload-length': '9000000000000000' }],
    [422, metadata({ filename: 'x', more: 'x'.repeat(5000) })],
    [422, metadata(keys)],
    [422, { 'upload-metadata': 'filename !' }],
    [422, { 'upload-metadata': 'a YQ==,a YQ==' }],
    [422, metadata({ filename: '../x' })],
    [422, metadata({ filename: 'x', filetype: 'a\nb' })],
    [422, metadata({ filename: 'x', expected_hash: 'ff' })],
    [422, { 'upload-concat': 'complete' }],
    [415, {}, 'bytes'],
    [412, { 'tus-resumable': '' }],
  ]
  for (const [expected, asked, body] of refusals) {
    const { status, headers } = await post({ 'upload-length': '5', ...asked }, body)
    expect([status, headers['tus-resumable']], JSON.stringify(asked)).toEqual([expected, '1.0.0'])
  }
})

it('T-98 only an unexpired token of this locker and key creates uploads', async () => {
  const foreign = await tusToken(await instance.locker(ed25519Identity()))
  const token = await tusToken(locker, { ttl_min: 1 })
  for (const bad of ['x', foreign, `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`]) {
    const refused = await post({ 'upload-length': '5', 'x-upload-token': bad })
    expect(refused).toMatchObject({ status: 401, error: 'UPLOAD_TOKEN_INVALID' })
  }
  const upload = await create(instance, locker, token, named('in-time', 4))
  instance.clock.advance(61)
  expect((await post({ 'upload-length': '5', 'x-upload-token': token })).status).toBe(401)
  expect((await upload.patch(0, 'time')).status).toBe(204)
})

it('T-98 a removed operator creates and continues nothing', async () => {
  const operator = ed25519Identity()
  await locker.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
  const theirs = await tusToken(locker, {}, operator)
  const upload = await create(instance, locker, theirs, named('theirs', 10))
  expect((await upload.patch(0, '01234')).status).toBe(204)
  await locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
  expect((await post({ 'upload-length': '5', 'x-upload-token': theirs })).status).toBe(401)
  expect([(await upload.head()).status, (await upload.patch(5, '56789')).status]).toEqual([410, 410])
  expect(await listed(locker, 'theirs')).toBeUndefined()
})

it('T-98 a prefix applies to any name that the client gives its files', async () => {
  const confined = await tusToken(locker, { prefix: 'inbox/' })
  const given = [{ filename: 'a' }, { filename: 'a', relativePath: '/b/a' }, { filename: 'c', relativePath: '/' }, {}]
  const names = ['inbox/a', 'inbox/b/a', 'inbox/c', expect.stringMatching(/^inbox\/file_[0-9a-f]{16}$/)]
  for (const [i, pairs] of given.entries()) {
    const { created } = await create(instance, locker, confined, { 'upload-length': '1', ...metadata(pairs) })
    expect(created.headers['svc-filename']).toEqual(names[i])
  }
  for (const prefix of ['../../', 'inbox', '/', 'inbox//', '.inbox/', `${'a'.repeat(255)}`]) {
    const bad = await locker.call(['locker:write'], 'POST', '/tus/tokens', { prefix })
    expect(bad.status, prefix).toBe(422)
  }
})

it('T-98 a generated name follows the naming rules below any prefix', async () => {
  const token = await tusToken(locker, { prefix: `${'ä'.repeat(248)}/` })
  expect(await post({ 'upload-length': '1', 'x-upload-token': token })).toMatchObject({ status: 422 })
})

it('ADD-60 T-98 a token for a folder creates new names only, unless its issuer allowed overwriting', async () => {
  await locker.put('inbox/theirs', 'before')
  const inbox = await tusToken(locker, { prefix: 'inbox/' })
  const send = (token: string, filename: string, more: Record<string, string> = {}) =>
    post({ ...named(filename, 4), ...CHUNK, 'x-upload-token': token, ...more }, 'mine')
  expect(await send(inbox, 'theirs')).toMatchObject({ status: 412, error: 'PRECONDITION_FAILED' })
  expect(await send(inbox, 'new')).toMatchObject({ status: 201 })
  const taken = await send(inbox, 'new')
  expect(taken).toMatchObject({ status: 412, headers: { 'tus-resumable': '1.0.0' } })
  const next = { layer: 'gateway', next_best_method: 'POST /v1/lockers/{locker_id}/tus' }
  expect(JSON.parse(taken.text).details).toMatchObject({ ...next, filename: 'inbox/new' })
  expect((await publicBytes(instance, locker, 'inbox/theirs')).toString()).toBe('before')

  expect(await send(await tusToken(locker, { prefix: 'inbox/', overwrite: true }), 'theirs')).toMatchObject({
    status: 201,
  })
  expect((await publicBytes(instance, locker, 'inbox/theirs')).toString()).toBe('mine')
  expect(await send(await tusToken(locker, { overwrite: false }), 'inbox/theirs')).toMatchObject({ status: 412 })
  expect(await send(await tusToken(locker), 'inbox/theirs')).toMatchObject({ status: 201 })
})

it('ADD-60 T-98 a token of an earlier release still works below its prefix, and replaces nothing there', async () => {
  const { signers, randomBytes } = instance.gateway.context
  const expires = Math.floor(instance.clock.now() / 1000) + 60
  const sealed = { locker: locker.lockerId, key: locker.owner.identity, epoch: 0, prefix: 'in-', expires }
  const earlier = createTokenSealer(signers.shortUrl, 'svc/tus-tokens/v1', randomBytes).seal(sealed)
  const send = () => post({ ...named('x', 4), ...CHUNK, 'x-upload-token': earlier }, 'mine')
  expect(await send()).toMatchObject({ status: 201, headers: { 'svc-filename': 'in-x' } })
  expect(await send()).toMatchObject({ status: 412, error: 'PRECONDITION_FAILED' })
})

it('ADD-60 T-98 the first of two uploads of a name stays, however the second one ends', async () => {
  const inbox = await tusToken(locker, { prefix: 'inbox/' })
  const second = await create(instance, locker, inbox, named('raced', 4))
  const partial = { 'upload-concat': 'partial', 'upload-length': '4', ...CHUNK }
  const piece = await create(instance, locker, inbox, partial, 'join')
  expect((await (await create(instance, locker, inbox, named('raced', 4))).patch(0, 'main')).status).toBe(204)
  const late = await second.patch(0, 'late')
  expect([late.status, late.error]).toEqual([412, 'PRECONDITION_FAILED'])
  expect((await second.head()).status).toBe(410)
  const joined = await post({
    ...metadata({ filename: 'raced' }),
    'upload-concat': `final;${piece.url}`,
    'x-upload-token': inbox,
  })
  expect(joined).toMatchObject({ status: 412, error: 'PRECONDITION_FAILED' })
  expect((await publicBytes(instance, locker, 'inbox/raced')).toString()).toBe('main')
})

it('T-98 an upload expires on time, and a guessed URL finds none', async () => {
  const upload = await begun(named('slow', 10))
  await upload.patch(0, '01234')
  instance.clock.advance(86_400)
  expect([(await upload.head()).status, (await upload.patch(5, '5')).status]).toEqual([410, 410])
  for (const id of ['x', 'A'.repeat(43), 'A'.repeat(44)])
    expect((await send(`${instance.gateway.url}/v1/tus/${id}`, 'HEAD')).status).toBe(404)
})

it('T-98 partial uploads that are foreign, unfinished, repeated or too many are not joined', async () => {
  const partial = { 'upload-concat': 'partial', 'upload-length': '3' }
  const other = await instance.locker(ed25519Identity())
  const theirs = await create(instance, other, await tusToken(other), { ...partial, ...CHUNK }, 'abc')
  const [open, complete] = [await begun(partial), await begun(named('w', 3))]
  const mine = await begun({ ...partial, ...CHUNK }, 'abc')
  const final = (...urls: string[]) =>
    post({ 'upload-concat': `final;${urls.join(' ')}`, ...metadata({ filename: 'j' }) })
  const refusals = [
    await final(mine.url, theirs.url),
    await final(mine.url, open.url),
    await final(mine.url, complete.url),
    await final(mine.url, mine.url),
    await final(mine.url, `${instance.gateway.url}/v1/tus/${'A'.repeat(43)}`),
    await final(),
    await final(...Array.from({ length: 101 }, (_, i) => `/v1/tus/${`${i}`.padStart(43, 'A')}`)),
    await final('https://example.com/else'),
  ]
  for (const { status, error, text } of refusals) expect([status, error], text).toEqual([400, 'TUS_CONCAT_INVALID'])
  expect((await post({ 'upload-concat': `final;${mine.url}`, 'upload-length': '3' })).status).toBe(422)
  // The refused requests did not consume the partial upload.
  const joined = await final(mine.url)
  expect([joined.status, joined.headers['upload-offset']]).toEqual([201, '3'])
  expect((await final(mine.url, open.url)).status).toBe(400)
  expect(here(instance, joined.headers.location as string)).not.toBe(mine.url)
})

it('T-98 the URL of an upload opens no upload session', async () => {
  const { url } = await begun(named('apart', 10))
  const rows = instance.gateway.context.database.db.selectFrom('upload_sessions').select('session_id')
  const { session_id } = await rows.where('locker_id', '=', locker.lockerId).executeTakeFirstOrThrow()
  const headers = { 'x-upload-token': url.slice(url.lastIndexOf('/') + 1) }
  const { status } = await instance.send('POST', `/v1/upload-sessions/${session_id}/finalize`, undefined, headers)
  expect([401, 404]).toContain(status)
})
