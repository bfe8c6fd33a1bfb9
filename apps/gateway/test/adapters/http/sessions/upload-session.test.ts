import { randomBytes } from 'node:crypto'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { sha256 } from '../transfers.ts'
import { listed, openTestSession, publicBytes } from './sessions.ts'

const FILENAME = 'docs/a b.bin'
const bytes = randomBytes(2500)
const instance = forAllTests(() => openTestGateway({ FILE_LIMITS: 'part_bytes=1000' }))
const locker = forAllTests(() => instance.locker(ed25519Identity()))

const session = forEachTest(() => {
  const files = [{ filename: FILENAME, content_type: 'image/png', size_bytes: 2500 }]
  return openTestSession(instance, locker, { receipt_id: locker.receiptId, files })
})
const base = () => `${instance.gateway.context.config.http.baseUrl}/v1`
const file = { file_id: 'f_0001', filename: FILENAME }

it('SESS-01 a new upload session returns its URLs and a token that is shown once', () => {
  const { session_id, upload_token } = session.opened
  const path = `${base()}/upload-sessions/${session_id}`
  expect(session.opened).toEqual({
    session_id: expect.stringMatching(/^us_[0-9a-f]{32}$/),
    upload_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    status: 'partial',
    expires_at: '2026-09-02T12:00:00Z',
    part_max_bytes: 1000,
    files: [{ ...file, parts_url: `${path}/files/f_0001/parts` }],
    endpoints: { parts: `${path}/files/{file_id}/parts`, finalize: `${path}/finalize`, status: path },
  })
  expect(upload_token).not.toContain(session_id)
})

it('SESS-03 SESS-04 an upload session accepts parts, reports what it received, and stores the file', async () => {
  const { session_id } = session.opened
  const first = await session.part(0, bytes.subarray(0, 1000))
  const received = { received_bytes: 1000, total_received_bytes: 1000, sha256: sha256(bytes.subarray(0, 1000)) }
  expect(first.body).toEqual({ session_id, file_id: 'f_0001', index: 0, ...received, status: 'partial' })
  expect((await session.raw(1, bytes.subarray(1000, 2000))).body.total_received_bytes).toBe(2000)
  expect((await session.status()).body).toEqual({
    session_id,
    locker_id: locker.lockerId,
    status: 'partial',
    expires_at: '2026-09-02T12:00:00Z',
    files: [{ ...file, received_bytes: 2000, parts: 2, state: 'open', missing_parts: [] }],
    viewer_url: null,
  })
  await session.raw(2, bytes.subarray(2000))

  const stored = { size_bytes: 2500, content_hash: `sha256:${sha256(bytes)}` }
  const finalized = await session.finalize()
  const viewer_url = expect.stringMatching(`^${base()}/r/${session_id}\\.[\\w-]{43}/f/docs/a%20b\\.bin$`)
  const files = [{ ...file, ok: true, ...stored }]
  expect(finalized.body).toEqual({ session_id, status: 'complete', files, viewer_url })
  expect(await listed(locker, FILENAME)).toMatchObject({ ...stored, content_type: 'image/png', status: 'confirmed' })
  expect(await publicBytes(instance, locker, FILENAME)).toEqual(bytes)
  const { body } = await session.status()
  expect(body).toMatchObject({ status: 'complete', files: [{ state: 'stored', received_bytes: 2500, parts: 3 }] })
  expect(body.viewer_url).toBe(finalized.body.viewer_url)
})
