import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { newUploadToken } from '../../../src/transfers/sessions/session-token.ts'
import { ed25519Identity, expectRefusal, openLockerHouse } from '../../auth/lockers.ts'
import { forAllTests, forEachTest } from '../../for-tests.ts'
import { openTestSession } from './sessions.ts'

const NO_SUCH_ID = `us_${'0'.repeat(32)}`
const a = { files: [{ filename: 'a' }] }
const house = forAllTests(openLockerHouse)
const locker = forAllTests(() => house.locker(ed25519Identity()))
const session = forEachTest(() => openTestSession(house, locker, a))
const other = forEachTest(() => openTestSession(house, locker, a))

const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  house.send(method, path, body, headers)
const pathOf = (id: string) => `/v1/upload-sessions/${id}`

it('SESS-02 AMB-60 the upload token is X-Upload-Token, or else a bearer token', async () => {
  const { session_id, upload_token } = session.opened
  const statusWith = async (headers: Record<string, string>) => (await send('GET', pathOf(session_id), headers)).status
  expect(await statusWith({ authorization: `bearer ${upload_token}` })).toBe(200)
  expect(await statusWith({ 'x-upload-token': upload_token, authorization: 'Basic abc' })).toBe(200)
  expect(await statusWith({ 'x-upload-token': 'x', authorization: `Bearer ${upload_token}` })).toBe(401)
})

it('SESS-06 FILE-31 T-15 every endpoint of a session refuses a wrong upload token and says what to do', async () => {
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
      expect(reply.body).toMatchObject({
        details: { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) },
      })
    }
  }
  expect((await session.status()).body.status).toBe('partial')
})

it('T-15 a caller with a wrong token cannot find out whether a session exists', async () => {
  const headers = { 'x-upload-token': other.opened.upload_token }
  const known = await send('GET', pathOf(session.opened.session_id), headers)
  const unknown = await send('GET', pathOf(NO_SUCH_ID), headers)
  const { request_id: _, ...knownBody } = known.body as Record<string, unknown>
  const { request_id: __, ...unknownBody } = unknown.body as Record<string, unknown>
  expect([unknown.status, unknownBody]).toEqual([known.status, knownBody])
})

it('SESS-04 the right token of a deleted session gets 404', async () => {
  const { token, sessionId } = newUploadToken({ randomBytes })
  const reply = await send('GET', pathOf(sessionId), { 'x-upload-token': token })
  expectRefusal(reply, 404, 'SESSION_NOT_FOUND')
})

it('T-15 a token that matches the session id but not the stored hash is refused', async () => {
  const { session_id } = session.opened
  const { db } = house.gateway.context.database
  const changed = { token_hash: '0'.repeat(64) }
  await db.updateTable('upload_sessions').set(changed).where('session_id', '=', session_id).execute()
  expectRefusal(await session.status(), 401, 'UPLOAD_TOKEN_INVALID')
})
