import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../../auth/lockers.ts'
import { sha256 } from '../transfers.ts'
import { listed, openTestSession, publicBytes } from './sessions.ts'

const owner = ed25519Identity()
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({ SESSION_PART_MAX_BYTES: '1000' })
  locker = await house.locker(owner)
})
afterAll(() => house.close())

describe('an upload in parts', () => {
  it('SESS-01 SESS-02 SESS-03 SESS-04 SHAPE-27 SHAPE-28 SHAPE-29 SHAPE-30 an upload session goes from opening to a stored file', async () => {
    const bytes = randomBytes(2500)
    const session = await openTestSession(house, locker, {
      receipt_id: locker.receiptId,
      files: [{ filename: 'docs/a b.bin', content_type: 'image/png', size_bytes: 2500 }],
    })
    const { session_id, upload_token } = session.opened
    const base = house.gateway.context.config.http.baseUrl
    expect(session.opened).toEqual({
      session_id: expect.stringMatching(/^us_[0-9a-f]{32}$/),
      upload_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      status: 'partial',
      expires_at: '2026-09-02T12:00:00Z',
      part_max_bytes: 1000,
      files: [
        {
          file_id: 'f_0001',
          filename: 'docs/a b.bin',
          parts_url: `${base}/v1/upload-sessions/${session_id}/files/f_0001/parts`,
        },
      ],
      endpoints: {
        parts: `${base}/v1/upload-sessions/${session_id}/files/{file_id}/parts`,
        finalize: `${base}/v1/upload-sessions/${session_id}/finalize`,
        status: `${base}/v1/upload-sessions/${session_id}`,
      },
    })

    const first = await session.part(0, bytes.subarray(0, 1000))
    expect([first.status, first.body]).toEqual([
      200,
      {
        session_id,
        file_id: 'f_0001',
        index: 0,
        received_bytes: 1000,
        total_received_bytes: 1000,
        sha256: sha256(bytes.subarray(0, 1000)),
        status: 'partial',
      },
    ])
    expect((await session.raw(1, bytes.subarray(1000, 2000))).body.total_received_bytes).toBe(2000)
    expect((await session.status()).body).toEqual({
      session_id,
      locker_id: locker.lockerId,
      status: 'partial',
      expires_at: '2026-09-02T12:00:00Z',
      files: [
        {
          file_id: 'f_0001',
          filename: 'docs/a b.bin',
          received_bytes: 2000,
          parts: 2,
          state: 'open',
          missing_parts: [],
        },
      ],
      viewer_url: null,
    })
    await session.raw(2, bytes.subarray(2000))

    const finalized = await session.finalize()
    expect([finalized.status, finalized.body]).toEqual([
      200,
      {
        session_id,
        status: 'complete',
        files: [
          {
            file_id: 'f_0001',
            filename: 'docs/a b.bin',
            ok: true,
            size_bytes: 2500,
            content_hash: `sha256:${sha256(bytes)}`,
          },
        ],
        viewer_url: expect.stringMatching(`^${base}/v1/r/${session_id}\\.[\\w-]{43}/f/docs/a%20b\\.bin$`),
      },
    ])
    expect(await listed(locker, 'docs/a b.bin')).toMatchObject({
      size_bytes: 2500,
      content_hash: `sha256:${sha256(bytes)}`,
      content_type: 'image/png',
      status: 'confirmed',
    })
    expect(await publicBytes(house, locker, 'docs/a b.bin')).toEqual(bytes)
    expect((await session.status()).body).toMatchObject({
      status: 'complete',
      files: [{ state: 'stored', received_bytes: 2500, parts: 3 }],
      viewer_url: finalized.body.viewer_url,
    })
    expect(upload_token).not.toContain(session_id)
  })
})
