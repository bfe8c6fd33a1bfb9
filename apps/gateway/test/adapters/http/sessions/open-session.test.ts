import { randomBytes } from 'node:crypto'
import type { UploadSession } from '@svc/api/upload-sessions'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type Reply } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { expect, it } from 'vitest'
import { newUploadToken } from '../../../../src/files/parts/session-token.ts'
import { sha256 } from '../transfers.ts'
import { openTestSession } from './sessions.ts'

const owner = ed25519Identity()
const instance = forAllTests(() => openTestGateway({ MAX_UPLOAD_BYTES: '1000' }))
const locker = forAllTests(() => instance.locker(owner))

const open = (request: unknown) => locker.call<UploadSession>(['locker:write'], 'POST', '/upload-sessions', request)
const a = { filename: 'a.txt' }
const ADVICE = { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) }
const locs = ({ body }: Reply<unknown>) => (body as { detail: { loc: unknown[] }[] }).detail.map(({ loc }) => loc)

it('SESS-01 a new session may name a receipt, which must belong to the locker', async () => {
  expect((await open({ receipt_id: locker.receiptId, files: [a] })).status).toBe(200)
  const other = await instance.receipt(owner)
  expectRefusal(await open({ receipt_id: other, files: [a] }), 401, 'RECEIPT_ID_MISMATCH')
})

it.each([
  ['ttl_min', { ttl_min: 0 }],
  ['ttl_min', { ttl_min: 1441 }],
  ['files', { files: [] }],
  ['files', { files: Array.from({ length: 1001 }, (_, i) => ({ filename: `${i}` })) }],
])('SESS-01 a new session has a valid %s: %o', async (field, change) => {
  const reply = await open({ files: [a], ...change })
  expectRefusal(reply, 422, 'validation_error')
  expect(locs(reply)).toContainEqual(['body', field])
})

it.each([
  ['AMB-22', 'filename', '../a'],
  ['FILE-09', 'content_type', 'text/plain\r\nX-Evil: 1'],
  ['FILE-23', 'expected_hash', `md5:${sha256('')}`],
  ['SESS-01', 'overwrite', 'no'],
  ['SESS-01', 'size_bytes', -1],
  ['SESS-01', 'size_bytes', 1.5],
])('%s a new session has files with a valid %s: %o', async (_, field, value) => {
  const reply = await open({ files: [a, { filename: 'b', [field]: value }] })
  expectRefusal(reply, 422, 'validation_error')
  expect(locs(reply)).toEqual([['body', 'files', 1, field]])
})

it('SESS-01 a new session names no file twice; another Unicode form is another name', async () => {
  const reply = await open({ files: [a, { filename: 'b' }, a] })
  expectRefusal(reply, 422, 'validation_error')
  expect(locs(reply)).toEqual([['body', 'files', 2, 'filename']])
  expect((await open({ files: [{ filename: '\u00e9' }, { filename: 'e\u0301' }] })).status).toBe(200)
})

it('LIM-12 SESS-06 a new session declares no size above the limit', async () => {
  expect((await open({ files: [{ filename: 'a', size_bytes: 1000 }] })).status).toBe(200)
  for (const size_bytes of [1001, 1e300]) {
    const reply = await open({ files: [a, { filename: 'b', size_bytes }] })
    expectRefusal(reply, 413, 'UPLOAD_TOO_LARGE')
    expect(reply.body).toMatchObject({ details: ADVICE })
  }
})

it('SESS-01 a new session states its lifetime, and its file ids sort in the order of the request', async () => {
  const files = Array.from({ length: 1000 }, (_, i) => ({ filename: `file ${i}` }))
  const { body } = await open({ files, ttl_min: 5 })
  expect(Date.parse(body.expires_at)).toBe(instance.clock.now() + 300_000)
  expect(body.files.map(({ filename }) => filename)).toEqual(files.map(({ filename }) => filename))
  const ids = body.files.map(({ file_id }) => file_id)
  expect([...new Set(ids)].toSorted()).toEqual(ids)
})

it('T-07 a new session leaves only a hash of the upload token in the database', async () => {
  const { session_id, upload_token } = (await open({ files: [a] })).body
  const rows = instance.gateway.context.database.db.selectFrom('upload_sessions').selectAll()
  const row = await rows.where('session_id', '=', session_id).executeTakeFirstOrThrow()
  expect(row.token_hash).toBe(sha256(upload_token))
  expect(JSON.stringify(row)).not.toContain(upload_token)
})

const session = forEachTest(() => openTestSession(instance, locker, { files: [a] }))
const other = forEachTest(() => openTestSession(instance, locker, { files: [a] }))
const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  instance.send(method, path, body, headers)
const pathOf = (id: string) => `/v1/upload-sessions/${id}`

it('SESS-02 ENV-20 the upload token is X-Upload-Token, or else a bearer token', async () => {
  const { session_id, upload_token } = session.opened
  const statusWith = async (headers: Record<string, string>) => (await send('GET', pathOf(session_id), headers)).status
  expect(await statusWith({ authorization: `bearer ${upload_token}` })).toBe(200)
  expect(await statusWith({ 'x-upload-token': upload_token, authorization: 'Basic abc' })).toBe(200)
  expect(await statusWith({ 'x-upload-token': 'x', authorization: `Bearer ${upload_token}` })).toBe(401)
})

it('SESS-06 T-07 every endpoint of a session refuses a wrong upload token and says what to do', async () => {
  const { session_id, upload_token, files } = session.opened
  const part = { index: 0, data: '' }
  const requests: [string, string, unknown?][] = [
    ['GET', pathOf(session_id)],
    ['POST', `${pathOf(session_id)}/finalize`],
    ['POST', `${pathOf(session_id)}/files/${files[0]?.file_id}/parts`, part],
    ['POST', `${pathOf(session_id)}/files/f_9999/parts`, part],
  ]
  const wrong: Record<string, string>[] = [
    {},
    { 'x-upload-token': '' },
    { 'x-upload-token': other.opened.upload_token },
    { 'x-upload-token': upload_token.slice(0, 42) },
    { 'x-upload-token': `${upload_token}, ${upload_token}` },
    { 'x-upload-token': session_id },
    { authorization: upload_token },
  ]
  for (const [method, path, body] of requests) {
    for (const headers of wrong) {
      const reply = await send(method, path, headers, body)
      expectRefusal(reply, 401, 'UPLOAD_TOKEN_INVALID')
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
      expect(reply.body).toMatchObject({ details: ADVICE })
    }
  }
  expect((await session.status()).body.status).toBe('partial')
})

it('T-07 a caller with a wrong token cannot find out whether a session exists', async () => {
  const headers = { 'x-upload-token': other.opened.upload_token }
  const known = await send('GET', pathOf(session.opened.session_id), headers)
  const unknown = await send('GET', pathOf(`us_${'0'.repeat(32)}`), headers)
  const { request_id: _, ...knownBody } = known.body as Record<string, unknown>
  const { request_id: __, ...unknownBody } = unknown.body as Record<string, unknown>
  expect([unknown.status, unknownBody]).toEqual([known.status, knownBody])
})

it('SESS-04 the right token of a deleted session answers 404', async () => {
  const { token, sessionId } = newUploadToken({ randomBytes })
  const reply = await send('GET', pathOf(sessionId), { 'x-upload-token': token })
  expectRefusal(reply, 404, 'SESSION_NOT_FOUND')
})

it('T-07 a token that matches the session id but not the stored hash is refused', async () => {
  const { session_id } = session.opened
  const { db } = instance.gateway.context.database
  const changed = { token_hash: '0'.repeat(64) }
  await writable(db).updateTable('upload_sessions').set(changed).where('session_id', '=', session_id).execute()
  expectRefusal(await session.status(), 401, 'UPLOAD_TOKEN_INVALID')
})
