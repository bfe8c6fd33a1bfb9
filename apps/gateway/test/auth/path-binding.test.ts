import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draft, sendDraft } from './drafts.ts'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from './lockers.ts'

const owner = ed25519Identity()
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(owner)
})
afterAll(() => house.close())

/** `ID` is replaced by the id of the locker. */
const withId = (path: string) => path.replaceAll('ID', locker.lockerId)
const RECORD = '/v1/lockers/ID/record'

async function read({ signed = RECORD, target = RECORD, method = 'GET' }) {
  const request = draft(house, locker, { method, target: withId(target), ops: ['locker:read'] })
  request.envelope.path = withId(signed)
  return sendDraft(house, request)
}

describe('paths that match', () => {
  it.each([
    { target: '/v1/lockers/ID/%72ecord' },
    { target: '/v1/lockers/ID/%72%65%63%6F%72%64' },
    { target: '/%76%31/lockers/ID/%72%65%63%6f%72%64' },
    { signed: '/v1/lockers/ID/%72ecord' },
    { signed: '/v1/lockers/ID/%72ecord', target: '/v1/lockers/ID/r%65cord' },
  ])('T-05 AMB-27 decodes each path segment once: %j', async (paths) => {
    expect((await read(paths)).status).toBe(200)
  })

  it.each([
    { target: `${RECORD}?x=1` },
    { target: `${RECORD}?` },
    { target: `${RECORD}?x=%2e%2e/../#?` },
    { signed: `${RECORD}?x=1&y=%20`, target: `${RECORD}?x=1&y=%20` },
    { signed: `${RECORD}?`, target: `${RECORD}?` },
  ])('AMB-27 accepts a signed path without its query, or with the exact query: %j', async (paths) => {
    expect((await read(paths)).status).toBe(200)
  })

  it('ENV-06 binds HEAD as it binds GET', async () => {
    expect((await read({ method: 'HEAD' })).status).toBe(200)
    expect((await read({ method: 'HEAD', target: `${RECORD}?x` })).status).toBe(200)
    expect((await read({ method: 'HEAD', signed: `${RECORD}/x` })).status).toBe(403)
  })

  it.each(['http://gateway.example', 'HTTPS://gateway.example:8402', 'http://user@[::1]:80'])(
    'ENV-06 binds the path after %s in an absolute target',
    async (origin) => {
      expect((await read({ target: origin + RECORD })).status).toBe(200)
      expect((await read({ target: `${origin}${RECORD}?x`, signed: `${RECORD}?x` })).status).toBe(200)
      expectRefusal(await read({ target: origin + RECORD, signed: origin + RECORD }), 403, 'PATH_MISMATCH')
      expectRefusal(await read({ target: origin + RECORD, signed: `${RECORD}/x` }), 403, 'PATH_MISMATCH')
    },
  )
})

describe('paths that do not match', () => {
  it.each([
    '/v1/storage/metadata/ID',
    '/v1/lockers/ID',
    '/v1/lockers/ID/Record',
    '/V1/lockers/ID/record',
    'v1/lockers/ID/record',
    '//v1/lockers/ID/record',
    '/v1/lockers//ID/record',
    '/v1/lockers/ID/record/',
    '/v1/lockers/ID%2Frecord',
    '/v1/lockers/ID%2frecord',
    '/v1%2Flockers/ID/record',
    '%2Fv1/lockers/ID/record',
    '/v1/lockers/ID/./record',
    '/v1/lockers/ID/x/../record',
    '/v1/lockers/ID/x/%2e%2e/record',
    '/v1/lockers/ID/%2572ecord',
    '/v1/lockers/ID/record%00',
    '/v1/lockers/ID/record%20',
    '/v1/lockers/ID/record;x',
    '/v1/lockers/ID/record#x',
    '/v1/lockers/ID/rec\u043erd',
    '/v1/lockers/ID/record%',
    '/v1/lockers/ID/record%zz',
    '/v1/lockers/ID/record?x',
    '',
    '/',
    '*',
  ])('ENV-06 T-05 refuses the signed path %j for the record', async (signed) => {
    expectRefusal(await read({ signed }), 403, 'PATH_MISMATCH')
  })

  it.each([
    { signed: `${RECORD}?x=1`, target: `${RECORD}?x=2` },
    { signed: `${RECORD}?x=1`, target: `${RECORD}?x=1&x=1` },
    { signed: `${RECORD}?x=1`, target: `${RECORD}?x=%31` },
    { signed: `${RECORD}?x=1`, target: `/v1/lockers/ID/%72ecord?x=1` },
    { signed: `${RECORD}?`, target: RECORD },
  ])('AMB-27 compares a signed query character by character: %j', async (paths) => {
    expectRefusal(await read(paths), 403, 'PATH_MISMATCH')
  })

  it.each<[string, number, string]>([
    ['/v1/lockers/ID/%2572ecord', 404, 'not_found'],
    ['/v1/lockers/ID/record%2F', 404, 'not_found'],
    ['/v1/lockers/ID%2Frecord', 404, 'not_found'],
    ['/v1%2Flockers/ID/record', 404, 'not_found'],
    ['//v1/lockers/ID/record', 404, 'not_found'],
    ['/v1//lockers/ID/record', 404, 'not_found'],
    ['/v1/lockers/ID//record', 404, 'not_found'],
    ['/v1/lockers/ID/record/', 404, 'not_found'],
    ['/v1/lockers/ID/./record', 404, 'not_found'],
    ['/v1/lockers/ID/%2e/record', 404, 'not_found'],
    ['/v1/x/../lockers/ID/record', 404, 'not_found'],
    ['/v1/x/%2e%2e/lockers/ID/record', 404, 'not_found'],
    ['/v1/x/%252e%252e/lockers/ID/record', 404, 'not_found'],
    ['/V1/lockers/ID/record', 404, 'not_found'],
    ['/v1/lockers/ID/RECORD', 404, 'not_found'],
    ['/v1/lockers/ID/record;x', 404, 'not_found'],
    ['\\v1\\lockers\\ID\\record', 400, 'malformed_request'],
    ['ftp://gateway.example/v1/lockers/ID/record', 404, 'not_found'],
    ['http://gateway.example/x', 404, 'not_found'],
    ['/v1/lockers/ID/%', 422, 'validation_error'],
    ['/v1/lockers/ID/%zz', 422, 'validation_error'],
    ['/v1/lockers/%ff/record', 422, 'validation_error'],
    ['/v1/lockers/%c0%ae%c0%ae/record', 422, 'validation_error'],
    ['/v1/lockers/%ed%a0%80/record', 422, 'validation_error'],
    ['/v1/lockers/%00/record', 422, 'validation_error'],
    ['/v1/lockers/ID%00/record', 422, 'validation_error'],
    ['/v1/lockers/ID%20/record', 401, 'LOCKER_ID_MISMATCH'],
    ['/v1/lockers/%2e%2e/record', 401, 'LOCKER_ID_MISMATCH'],
    ['/v1/lockers/%2e%2e%2FID/record', 401, 'LOCKER_ID_MISMATCH'],
    ['/v1/lockers/../record', 401, 'LOCKER_ID_MISMATCH'],
    ['/v1/lockers/%250/record', 401, 'LOCKER_ID_MISMATCH'],
    [`/v1/lockers/${'x'.repeat(3000)}/record`, 401, 'LOCKER_ID_MISMATCH'],
  ])('ENV-06 T-05 answers the target %s with %i, whatever path is signed', async (target, status, code) => {
    for (const signed of [RECORD, target]) expectRefusal(await read({ signed, target }), status, code)
  })

  it.each([
    ['http:///v1/lockers/ID/record', 422, 'validation_error'],
    ['http://gateway.example/x?/v1/lockers/ID/record', 404, 'not_found'],
    ['/v1/lockers/ID/record#x', 403, 'PATH_MISMATCH'],
  ])('ENV-06 T-05 refuses an envelope for the record on the target %s', async (target, status, code) => {
    expectRefusal(await read({ target }), status, code)
  })

  it.each(['/v1/storage/metadata/ID', '/v1/storage/%6detadata/ID'])(
    'ENV-06 T-05 refuses an envelope for the record on the path %s',
    async (target) => {
      expectRefusal(await read({ target }), 403, 'PATH_MISMATCH')
      expect((await read({ target, signed: '/v1/storage/metadata/ID' })).status).toBe(200)
    },
  )
})
