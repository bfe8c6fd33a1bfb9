import type { FinalizedUpload } from '@svc/api/upload-sessions'
import { expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, openLockerHouse } from '../../auth/lockers.ts'
import { forAllTests } from '../../for-tests.ts'
import { openTestSession } from './sessions.ts'

const SECRET = 'an-internal-secret-for-tests'
const house = forAllTests(() => openLockerHouse({ INTERNAL_SECRET: SECRET }))
const locker = forAllTests(() => house.locker(ed25519Identity()))

const job = (body: unknown, secret = SECRET) =>
  house.send<FinalizedUpload>('POST', '/v1/internal/jobs/finalize-upload', body, { authorization: `Bearer ${secret}` })

it('SESS-05 INT-02 SHAPE-41 the finalize job answers like the endpoint, also for a partial session', async () => {
  const session = await openTestSession(house, locker, { files: [{ filename: 'a' }, { filename: 'b' }] })
  const { session_id } = session.opened
  await session.raw(0, 'a')
  const partial = await job({ session_id })
  expect([partial.status, partial.body]).toEqual([200, (await session.finalize()).body])
  expect(partial.body.status).toBe('partial')
  await session.raw(0, 'b', { file: 1 })
  expect((await job({ session_id })).body.status).toBe('complete')
  expect((await job({ session_id })).body).toEqual((await session.finalize()).body)
})

it('T-26 INT-02 INT-06 SESS-05 the finalize job is for internal callers only, and refuses unknown sessions', async () => {
  const session = await openTestSession(house, locker, { files: [{ filename: 'c' }] })
  const { session_id, upload_token } = session.opened
  expectRefusal(await job({ session_id }, 'another'), 401, 'INTERNAL_AUTH_REQUIRED')
  expectRefusal(await job({ session_id }, upload_token), 401, 'INTERNAL_AUTH_REQUIRED')
  expectRefusal(await job({ session_id: `us_${'0'.repeat(32)}` }), 404, 'SESSION_NOT_FOUND')
  expectRefusal(await job({ session_id: 7 }), 422, 'validation_error')
})
