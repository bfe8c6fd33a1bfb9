import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type Reply,
  type TestLocker,
} from '../../auth/lockers.ts'
import { openTestSession, publicBytes, sha256, type TestSession } from './sessions.ts'

const PART_MAX = 300_000
const RAW = { 'content-type': 'application/octet-stream' }
let house: LockerHouse
let locker: TestLocker
let session: TestSession

beforeAll(async () => {
  house = await openLockerHouse({ SESSION_PART_MAX_BYTES: String(PART_MAX), MAX_UPLOAD_BYTES: '1000000' })
  locker = await house.locker(ed25519Identity())
  session = await openTestSession(house, locker, { files: [{ filename: 'a' }, { filename: 'b', size_bytes: 10 }] })
})
afterAll(() => house.close())

/** A body as it is, with the session's token. */
const post = (body: unknown, headers: Record<string, string> = {}, query = '', file = 0) =>
  house.send<Record<string, unknown>>('POST', session.partsPath(file) + query, body, { ...session.headers, ...headers })

const objectCount = async () => {
  const { db } = house.gateway.context.database
  return (await db.selectFrom('objects').selectAll().where('state', '!=', 'released').execute()).length
}

/** Refused, with what to do next, and without a trace. */
async function expectNothingKept(send: () => Promise<Reply<unknown>>, status: number, code: string) {
  const before = [await objectCount(), (await session.status()).body]
  const reply = await send()
  expectRefusal(reply, status, code)
  expect([await objectCount(), (await session.status()).body]).toEqual(before)
  return reply.body as { details?: Record<string, unknown>; detail?: { loc: unknown[] }[] }
}

const WHAT_NEXT = { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) }

describe('parts in JSON', () => {
  it.each([
    ['white space', 'QUJD QUJD'],
    ['a line break', 'QUJD\\nQUJD'],
    ['the alphabet of URLs', '-_-_'],
    ['missing padding', 'QQ'],
    ['too much padding', 'QUI=='],
    ['padding in between', 'QQ==QQ=='],
    ['stray bits', 'QR=='],
    ['a length that cannot be', 'QUJDQ'],
    ['letters of elsewhere', 'QUJDäöü='],
  ])('T-11 SHAPE-28 data with %s is not base64', async (_, data) => {
    const body = await expectNothingKept(() => post(`{"index":0,"data":"${data}"}`), 422, 'validation_error')
    expect(body.detail).toMatchObject([{ loc: ['body', 'data'] }])
    expect(body.details).toMatchObject(WHAT_NEXT)
  })

  it.each([
    ['index', '{"data":"QQ=="}'],
    ['index', '{"index":-1,"data":"QQ=="}'],
    ['index', '{"index":100000,"data":"QQ=="}'],
    ['index', '{"index":1e30,"data":"QQ=="}'],
    ['index', '{"index":1.5,"data":"QQ=="}'],
    ['index', '{"index":"0","data":"QQ=="}'],
    ['index', '{"index":null,"data":"QQ=="}'],
    ['data', '{"index":0}'],
    ['data', '{"index":0,"data":null}'],
    ['data', '{"index":0,"data":["QQ=="]}'],
    ['data', '{"index":0,"data":{"data":"QQ=="}}'],
    ['sha256', '{"index":0,"data":"QQ==","sha256":"abc"}'],
    ['sha256', '{"index":0,"data":"QQ==","sha256":7}'],
  ])('SHAPE-28 %s is checked: %s', async (field, text) => {
    const body = await expectNothingKept(() => post(text), 422, 'validation_error')
    expect(body.detail?.map(({ loc }) => loc)).toContainEqual(['body', field])
  })

  it.each([
    ['nothing', ''],
    ['no JSON', 'QQ=='],
    ['an array', '[{"index":0,"data":"QQ=="}]'],
    ['half a document', '{"index":0,"data":"QQ=='],
    ['more than a document', '{"index":0,"data":"QQ=="}{}'],
    ['data twice', '{"index":0,"data":"QQ==","data":"QUI="}'],
    ['index twice', '{"index":0,"index":1,"data":"QQ=="}'],
    ['a quote in data', '{"index":0,"data":"QUJD\\"QUJ"}'],
    ['two strings', '{"index":0,"data":"QUJD" "QUJD"}'],
    ['deep nesting', `{"index":0,"data":"QQ==","x":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['bytes that are not UTF-8', Buffer.from('{"index":0,"data":"QQ==","x":"\xff"}', 'latin1')],
  ])('T-11 %s is not a part', async (_, body) => {
    await expectNothingKept(() => post(body), 422, 'validation_error')
  })

  it('SHAPE-28 members may stand in any order, escaped as JSON allows, with others beside them', async () => {
    const bytes = Buffer.from('fbff7ebe', 'hex') // +/9+vg==
    const texts = [
      `{"sha256":"${sha256(bytes)}","data":"+/9+vg==","index":0}`,
      '{ "index" : 0 , "data" : "+\\/9+vg==", "data2": {"data": "x"} }\n',
      '{"index":0,"d\\u0061ta":"+\\u002f9+vg=="}',
      `{"index":0.0,"data":"+/9+vg==","sha256":"SHA256:${sha256(bytes).toUpperCase()}"}`,
    ]
    for (const text of texts) {
      const { status, body } = await post(text)
      expect([status, body.sha256], text).toEqual([200, sha256(bytes)])
    }
  })

  it('ADD-11 a body without a type, and of any JSON type, is read as JSON', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/problem+json']) {
      expect((await post('{"index":0,"data":"QQ=="}', { 'content-type': type })).status).toBe(200)
    }
    const untyped = await sendChunked([Buffer.from('{"index":0,'), Buffer.from('"data":"QQ=="}')])
    expect(untyped.status).toBe(200)
  })

  it('AMB-47 T-11 data of the allowed size is taken, one byte more is not', async () => {
    const exact = randomBytes(PART_MAX)
    const { status, body } = await session.part(0, exact)
    expect([status, body.received_bytes, body.sha256]).toEqual([200, PART_MAX, sha256(exact)])
    const refused = await expectNothingKept(() => session.part(0, randomBytes(PART_MAX + 1)), 413, 'UPLOAD_TOO_LARGE')
    expect(refused.details).toMatchObject({ ...WHAT_NEXT, max_bytes: PART_MAX })
    await expectNothingKept(() => session.part(0, randomBytes(PART_MAX * 3)), 413, 'UPLOAD_TOO_LARGE')
    const chunked = [
      Buffer.from('{"index":0,"data":"'),
      ...Array(20).fill(Buffer.alloc(60_000, 'A')),
      Buffer.from('"}'),
    ]
    await expectNothingKept(() => sendChunked(chunked), 413, 'UPLOAD_TOO_LARGE')
    await expectNothingKept(() => post({ index: 0, data: '', more: 'x'.repeat(20_000) }), 413, 'body_too_large')
  })

  it('SHAPE-28 an index in the query must be the same', async () => {
    expect((await post('{"index":0,"data":"QQ=="}', {}, '?index=0')).status).toBe(200)
    await expectNothingKept(() => post('{"index":0,"data":"QQ=="}', {}, '?index=1'), 422, 'validation_error')
  })
})

describe('raw parts', () => {
  it('SESS-02 are taken as they come, in one piece or chunked', async () => {
    const bytes = randomBytes(PART_MAX)
    expect((await session.raw(0, bytes)).body).toMatchObject({ received_bytes: PART_MAX, sha256: sha256(bytes) })
    const chunked = await sendChunked([bytes.subarray(0, 1), bytes.subarray(1)], RAW, '?index=0')
    expect(chunked.body).toMatchObject({ received_bytes: PART_MAX, sha256: sha256(bytes) })
    expect((await session.raw(0, '')).body).toMatchObject({ received_bytes: 0, sha256: sha256('') })
  })

  it.each(['', '?index=', '?index=-1', '?index=100000', '?index=99999999999999999999', '?index=1.0', '?index=a'])(
    'SESS-02 the index is checked: %s',
    async (query) => {
      await expectNothingKept(() => post(Buffer.from('a'), RAW, query), 422, 'validation_error')
    },
  )

  it('SESS-02 the highest index is good', async () => {
    const far = await openTestSession(house, locker, { files: [{ filename: 'far' }] })
    expect((await far.raw(99_999, 'x')).status).toBe(200)
  })

  it('AMB-47 T-11 one byte too many is refused, told or not', async () => {
    const large = randomBytes(PART_MAX + 1)
    await expectNothingKept(() => session.raw(0, large), 413, 'UPLOAD_TOO_LARGE')
    const chunked = () => sendChunked([large.subarray(0, PART_MAX), large.subarray(PART_MAX)], RAW, '?index=0')
    const refused = await expectNothingKept(chunked, 413, 'UPLOAD_TOO_LARGE')
    expect(refused.details).toMatchObject({ ...WHAT_NEXT, max_bytes: PART_MAX })
  })

  it('T-11 no other type, and nothing compressed', async () => {
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/octet-streams', 'x']) {
      const body = await expectNothingKept(
        () => post(Buffer.from('a'), { 'content-type': type }, '?index=0'),
        415,
        'unsupported_media_type',
      )
      expect(body.details).toMatchObject(WHAT_NEXT)
    }
    const gzip = { 'content-encoding': 'gzip' }
    await expectNothingKept(() => post(gzipSync('a'), { ...RAW, ...gzip }, '?index=0'), 415, 'unsupported_encoding')
    await expectNothingKept(() => post(gzipSync('{"index":0}'), gzip), 415, 'unsupported_encoding')
    expect((await post(Buffer.from('a'), { ...RAW, 'content-encoding': 'identity' }, '?index=0')).status).toBe(200)
  })
})

describe('what a part must be', () => {
  it('SHAPE-28 SESS-06 what its sha256 says; else nothing is stored', async () => {
    const right = sha256('right')
    for (const sha of [right, right.toUpperCase(), `sha256:${right}`]) {
      expect((await session.part(0, 'right', { sha256: sha })).status).toBe(200)
      expect((await session.raw(0, 'right', { sha256: sha })).status).toBe(200)
    }
    for (const send of [session.part, session.raw]) {
      const { details } = await expectNothingKept(() => send(0, 'wrong', { sha256: right }), 409, 'HASH_MISMATCH')
      expect(details).toMatchObject({ ...WHAT_NEXT, expected: `sha256:${right}`, actual: `sha256:${sha256('wrong')}` })
    }
    await expectNothingKept(() => session.raw(0, 'right', { sha256: 'abc' }), 422, 'validation_error')
  })

  it('SESS-06 of a file of the session', async () => {
    const path = session.partsPath(0).replace('f_0001', 'f_0009')
    const reply = await house.send('POST', path, { index: 0, data: '' }, session.headers)
    expectRefusal(reply, 404, 'FILE_NOT_FOUND')
    expect(reply.body).toMatchObject({ details: WHAT_NEXT })
  })

  it('AMB-47 within the size that was declared, counted over all parts', async () => {
    expect((await session.raw(0, '12345', { file: 1 })).body.total_received_bytes).toBe(5)
    expect((await session.part(1, '67890', { file: 1 })).body.total_received_bytes).toBe(10)
    await expectNothingKept(() => session.raw(2, 'x', { file: 1 }), 413, 'UPLOAD_TOO_LARGE')
    await expectNothingKept(() => session.part(1, '67890x', { file: 1 }), 413, 'UPLOAD_TOO_LARGE')
    expect((await session.raw(1, '678', { file: 1 })).body.total_received_bytes).toBe(8)
    expect((await session.raw(2, '90', { file: 1 })).body.total_received_bytes).toBe(10)
    await expectNothingKept(() => session.raw(3, '12345678901', { file: 1 }), 413, 'UPLOAD_TOO_LARGE')
  })

  it('AMB-47 within what any file may have', async () => {
    const big = await openTestSession(house, locker, { files: [{ filename: 'big' }] })
    for (const index of [0, 1, 2]) await big.raw(index, randomBytes(PART_MAX))
    expectRefusal(await big.raw(3, randomBytes(PART_MAX)), 413, 'UPLOAD_TOO_LARGE')
    expect((await big.raw(3, randomBytes(100_000))).body.total_received_bytes).toBe(1_000_000)
  })

  it('SHAPE-28 the same index again replaces, and its old object is let go', async () => {
    const again = await openTestSession(house, locker, { files: [{ filename: 'again' }] })
    await again.raw(0, 'first')
    const before = await objectCount()
    expect((await again.part(0, 'second one')).body).toMatchObject({ received_bytes: 10, total_received_bytes: 10 })
    expect(await objectCount()).toBe(before)
    expect((await again.status()).body.files).toMatchObject([{ parts: 1, received_bytes: 10 }])
    expect((await again.finalize()).body.status).toBe('complete')
    expect(String(await publicBytes(house, locker, 'again'))).toBe('second one')
  })
})

/** Without a length, and without a type unless told. */
function sendChunked(
  pieces: readonly Buffer[],
  headers: Record<string, string> = {},
  query = '',
): Promise<Reply<Record<string, unknown>>> {
  const { hostname, port } = new URL(house.gateway.url)
  const path = session.partsPath(0) + query
  const { promise, resolve, reject } = Promise.withResolvers<Reply<Record<string, unknown>>>()
  const outgoing = request({ hostname, port, method: 'POST', path, headers: { ...session.headers, ...headers } })
  outgoing.on('error', reject).on('response', async (response) => {
    const body = JSON.parse(await text(response))
    resolve({ status: response.statusCode ?? 0, headers: new Headers(), body })
  })
  for (const piece of pieces) outgoing.write(piece)
  outgoing.end()
  return promise
}
