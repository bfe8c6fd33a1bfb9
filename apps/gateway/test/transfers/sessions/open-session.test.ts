import type { UploadSession } from '@svc/api/upload-sessions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type Reply,
  type TestLocker,
} from '../../auth/lockers.ts'
import { sha256 } from '../transfers.ts'
import { openTestSession } from './sessions.ts'

const owner = ed25519Identity()
const operator = ed25519Identity()
const stranger = ed25519Identity()
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({ MAX_UPLOAD_BYTES: '1000' })
  locker = await house.locker(owner, { operators: [operator] })
})
afterAll(() => house.close())

const open = (request: unknown, who = owner) =>
  locker.call<UploadSession>(['locker:write'], 'POST', '/upload-sessions', request, who)
const a = { filename: 'a.txt' }

describe('the caller who opens an upload session', () => {
  it('SESS-01 the owner and the operators may open an upload session', async () => {
    expect((await open({ files: [a] })).status).toBe(200)
    expect((await open({ files: [a] }, operator)).status).toBe(200)
  })

  it('SESS-01 an owner on the EVM chain may open an upload session', async () => {
    const evmOwner = evmIdentity()
    const session = await openTestSession(house, await house.locker(evmOwner), { files: [a] })
    expect((await session.part(0, 'a')).status).toBe(200)
  })

  it('SESS-01 strangers, other ops and unsigned requests cannot open an upload session', async () => {
    expectRefusal(await open({ files: [a] }, stranger), 403, 'SIGNATURE_INVALID')
    const path = '/upload-sessions'
    expectRefusal(await locker.call(['locker:read'], 'POST', path, { files: [a] }), 403, 'MISSING_OPS')
    expectRefusal(
      await house.send('POST', `/v1/lockers/${locker.lockerId}${path}`, { files: [a] }),
      422,
      'validation_error',
    )
  })

  it('SESS-01 a receipt in the body must be that of the locker', async () => {
    expect((await open({ receipt_id: locker.receiptId, files: [a] })).status).toBe(200)
    const other = await house.receipt(owner)
    expectRefusal(await open({ receipt_id: other, files: [a] }), 401, 'RECEIPT_ID_MISMATCH')
  })

  it('AMB-60 T-36 an upload token ends when its operator is removed', async () => {
    const helper = ed25519Identity()
    const ours = await house.locker(owner, { operators: [helper] })
    const session = await openTestSession(house, ours, { files: [a] }, helper)
    await ours.call(['locker:admin'], 'DELETE', `/operators/${helper.identity}`)
    expectRefusal(await session.part(0, 'a'), 401, 'UPLOAD_TOKEN_INVALID')
  })

  it('LIM-11 opening upload sessions counts against the rate limit of the signer', async () => {
    const strict = await openLockerHouse({ RATE_LIMIT_SIGNER: '1' })
    try {
      const ours = await strict.locker(owner)
      const ask = () => ours.call(['locker:write'], 'POST', '/upload-sessions', { files: [a] })
      expect((await ask()).status).toBe(200)
      expectRefusal(await ask(), 429, 'RATE_LIMITED')
    } finally {
      await strict.close()
    }
  })
})

describe('the request that opens an upload session', () => {
  it.each([
    ['ttl_min', { ttl_min: 0 }],
    ['ttl_min', { ttl_min: 1441 }],
    ['ttl_min', { ttl_min: 1.5 }],
    ['ttl_min', { ttl_min: '30' }],
    ['files', { files: [] }],
    ['files', { files: Array.from({ length: 1001 }, (_, i) => ({ filename: `${i}` })) }],
    ['files', { files: undefined }],
    ['receipt_id', { receipt_id: 7 }],
  ])('SHAPE-27 an invalid %s is refused: %o', async (field, change) => {
    const reply = await open({ files: [a], ...change })
    expectRefusal(reply, 422, 'validation_error')
    expect(locs(reply)).toContainEqual(['body', field])
  })

  it.each([
    ['filename', '', {}],
    ['filename', '../a', {}],
    ['filename', 'a:b', {}],
    ['filename', '.hidden', {}],
    ['filename', 'a\u0000b', {}],
    ['filename', 'x'.repeat(513), {}],
    ['content_type', 'b.txt', { content_type: 'text' }],
    ['content_type', 'b.txt', { content_type: 'text/plain\r\nX-Evil: 1' }],
    ['content_type', 'b.txt', { content_type: 7 }],
    ['expected_hash', 'b.txt', { expected_hash: 'sha256:abc' }],
    ['expected_hash', 'b.txt', { expected_hash: `md5:${sha256('')}` }],
    ['overwrite', 'b.txt', { overwrite: 'no' }],
    ['size_bytes', 'b.txt', { size_bytes: -1 }],
    ['size_bytes', 'b.txt', { size_bytes: 1.5 }],
    ['size_bytes', 'b.txt', { size_bytes: '5' }],
  ])('AMB-22 AMB-63 AMB-73 an invalid %s of a file is refused: %o %o', async (field, filename, change) => {
    const reply = await open({ files: [a, { filename, ...change }] })
    expectRefusal(reply, 422, 'validation_error')
    expect(locs(reply)).toContainEqual(['body', 'files', 1, field])
  })

  it('SHAPE-27 a repeated filename is refused; another Unicode form is another name', async () => {
    const reply = await open({ files: [a, { filename: 'b' }, a] })
    expectRefusal(reply, 422, 'validation_error')
    expect(locs(reply)).toEqual([['body', 'files', 2, 'filename']])
    expect((await open({ files: [{ filename: '\u00e9' }, { filename: 'e\u0301' }] })).status).toBe(200)
  })

  it('AMB-47 SESS-06 FILE-31 a file with a declared size above the limit is refused', async () => {
    expect((await open({ files: [{ filename: 'a', size_bytes: 1000 }] })).status).toBe(200)
    for (const size_bytes of [1001, 2 ** 53, 1e300]) {
      const reply = await open({ files: [a, { filename: 'b', size_bytes }] })
      expectRefusal(reply, 413, 'UPLOAD_TOO_LARGE')
      expect(reply.body).toMatchObject({
        details: { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) },
      })
    }
  })

  it('SHAPE-27 a session lasts for the requested minutes', async () => {
    const { expires_at } = (await open({ files: [a], ttl_min: 5 })).body
    expect(Date.parse(expires_at)).toBe(house.clock.now() + 300_000)
  })

  it('SHAPE-27 the ids of a thousand files sort in the order of the request', async () => {
    const files = Array.from({ length: 1000 }, (_, i) => ({ filename: `file ${i}` }))
    const { body } = await open({ files })
    expect(body.files.map(({ filename }) => filename)).toEqual(files.map(({ filename }) => filename))
    expect(body.files.map(({ file_id }) => file_id).toSorted()).toEqual(body.files.map(({ file_id }) => file_id))
    expect(new Set(body.files.map(({ file_id }) => file_id)).size).toBe(1000)
  })

  it('T-15 the database holds only a hash of the upload token', async () => {
    const { body } = await open({ files: [a] })
    const row = await house.gateway.context.database.db
      .selectFrom('upload_sessions')
      .selectAll()
      .where('session_id', '=', body.session_id)
      .executeTakeFirstOrThrow()
    expect(row.token_hash).toBe(sha256(body.upload_token))
    expect(JSON.stringify(row)).not.toContain(body.upload_token)
  })
})

function locs({ body }: Reply<unknown>) {
  return (body as { detail: { loc: unknown[] }[] }).detail.map(({ loc }) => loc)
}
