import { EMPTY_BODY_SHA256, type RequestEnvelope } from '@svc/protocol/request-envelope'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draft, sendDraft } from './drafts.ts'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from './lockers.ts'
import { type RawRequest, sendRaw } from './wire.ts'

const owner = ed25519Identity()
let house: LockerHouse
let locker: TestLocker
let evmLocker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(owner)
  evmLocker = await house.locker(evmIdentity())
})
afterAll(() => house.close())

const recordPath = () => `/v1/lockers/${locker.lockerId}/record`
const reading = (ops = ['locker:read']) => draft(house, locker, { method: 'GET', target: recordPath(), ops })
const refreshing = (body?: string) =>
  draft(house, locker, { method: 'POST', target: '/v1/storage/refresh', ops: ['locker:refresh'], body })
const raw = (request: RawRequest) => sendRaw(house.gateway.url, request)

async function reads(changes: Partial<RequestEnvelope>): Promise<number> {
  const request = reading()
  Object.assign(request.envelope, changes)
  return (await sendDraft(house, request)).status
}

describe('an envelope that fits', () => {
  it('ENV-02 ENV-03 GEN-07 OPER-07 of an owner of either kind opens GET, HEAD, POST and DELETE', async () => {
    for (const { lockerId, receiptId, owner } of [locker, evmLocker]) {
      const ids = { lockerId, receiptId }
      const base = `/v1/lockers/${lockerId}`
      const { identity: pubkey } = ed25519Identity()
      const operators = `${base}/operators`
      const calls = [
        { ...ids, method: 'GET', path: `${base}/record`, ops: ['locker:read'] },
        { ...ids, method: 'HEAD', path: `${base}/record`, ops: ['locker:read'] },
        { ...ids, method: 'POST', path: operators, ops: ['locker:admin'], body: { pubkey } },
        { ...ids, method: 'DELETE', path: `${operators}/${pubkey}`, ops: ['locker:admin'] },
      ]
      for (const call of calls) expect((await house.call(owner, call)).status).toBe(200)
    }
  })

  it.each([1, 7, '1', '999999999'])('AMB-54 may have v %j', async (v) => {
    expect(await reads({ v })).toBe(200)
  })

  it('AMB-54 LIM-04 may begin 30 seconds ahead, live for 60, and end in the next second', async () => {
    const now = Math.floor(house.clock.now() / 1000)
    expect(await reads({ iat: now + 30, exp: now + 90 })).toBe(200)
    expect(await reads({ iat: now - 59, exp: now + 1 })).toBe(200)
    expect(await reads({ iat: now - 60, exp: now })).toBe(403)
    expect(await reads({ iat: now + 10, exp: now + 10 })).toBe(403)
  })

  it('ENV-09 ENV-10 may have more ops than needed, also unknown ones and one twice', async () => {
    expect(await reads({ ops: ['locker:attest', 'locker:read', 'locker:read', 'moon:walk'] })).toBe(200)
    expect(await reads({ ops: ['LOCKER:READ'] })).toBe(403)
  })

  it('AMB-19 reads the record with either op', async () => {
    expect(await reads({ ops: ['locker:list'] })).toBe(200)
    expect(await reads({ ops: ['locker:write', 'locker:admin'] })).toBe(403)
  })

  it('AMB-94 names its receipt or leaves that out', async () => {
    expect(await reads({ receipt_id: '' })).toBe(200)
    expect(await reads({ locker_id: '' })).toBe(401)
  })

  it('AMB-55 AMB-94 where the path names no locker: by locker, by receipt, or both, but not by neither', async () => {
    const refreshed = async (changes: Partial<RequestEnvelope>) => {
      const request = refreshing('{}')
      Object.assign(request.envelope, changes)
      return sendDraft(house, request)
    }
    for (const changes of [{}, { receipt_id: '' }, { locker_id: '' }]) {
      const { status, body } = await refreshed(changes)
      expect([status, body]).toMatchObject([200, { locker_id: locker.lockerId }])
    }
    expectRefusal(await refreshed({ locker_id: '', receipt_id: '' }), 401, 'LOCKER_ID_MISMATCH')
    expectRefusal(await refreshed({ locker_id: evmLocker.lockerId }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await refreshed({ locker_id: '', receipt_id: 'rcpt_of_nobody' }), 404, 'locker_not_found')
  })

  it('AMB-95 of a POST without body binds the hash of nothing, or leaves it empty', async () => {
    for (const body_sha256 of [EMPTY_BODY_SHA256, '']) {
      const request = refreshing()
      request.envelope.body_sha256 = body_sha256
      expect((await sendDraft(house, request)).status).toBe(200)
    }
    const withBody = refreshing('{}')
    withBody.envelope.body_sha256 = ''
    expectRefusal(await sendDraft(house, withBody), 403, 'BODY_HASH_MISMATCH')
  })

  it('ENV-07 binds the bytes of the body, not what they say', async () => {
    const request = refreshing(`{"receipt_id":"${locker.receiptId}"}\n`)
    expectRefusal(await sendDraft(house, { ...request, body: request.body!.trim() }), 403, 'BODY_HASH_MISMATCH')
    expect((await sendDraft(house, request)).status).toBe(200)
  })

  it('ENV-13 AMB-29 that was refused for the request it came with is still good for its own', async () => {
    const request = reading()
    const elsewhere = { ...request, target: `/v1/storage/metadata/${locker.lockerId}` }
    expectRefusal(await sendDraft(house, elsewhere), 403, 'PATH_MISMATCH')
    // Of a HEAD there is only the status to see.
    expect((await sendDraft(house, { ...request, method: 'HEAD' })).status).toBe(403)
    expect((await sendDraft(house, request)).status).toBe(200)
    expectRefusal(await sendDraft(house, request), 403, 'NONCE_REPLAYED')
  })
})

describe('a body where there is none', () => {
  it.each(['GET', 'DELETE'])('AMB-02 ENV-08 on %s is a 401, however it is sent', async (method) => {
    const target = method === 'GET' ? recordPath() : `/v1/lockers/${locker.lockerId}/operators/x`
    const ops = method === 'GET' ? ['locker:read'] : ['locker:admin']
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const request = draft(house, locker, { method, target, ops, body: '{}' })
      request.headers = (signed) => ({ ...signed, ...headers })
      expectRefusal(await sendDraft(house, request), 401, 'BODY_HASH_MISMATCH')
      const chunked = draft(house, locker, { method, target, ops, body: '{}' })
      chunked.headers = (signed) => ({ ...signed, ...headers, 'transfer-encoding': 'chunked' })
      expectRefusal(await sendDraft(house, chunked), 401, 'BODY_HASH_MISMATCH')
    }
  })
})

describe('without an envelope', () => {
  const HEADERS = ['x-svc-envelope', 'x-svc-signature'] as const

  it('ENV-18 AMB-03 ERR-09 a GET is a 401 that says what to send', async () => {
    const answer = await raw({ method: 'GET', target: recordPath() })
    expectRefusal(answer, 401, 'MISSING_ENVELOPE')
    expect(answer.body).toMatchObject({ hint: expect.stringContaining('X-Svc-Envelope') })
    expect((await raw({ method: 'HEAD', target: recordPath() })).status).toBe(401)
  })

  it.each(['POST', 'DELETE'])('ENV-19 AMB-03 GEN-08 a %s is a 422 that names each header', async (method) => {
    const operators = `/v1/lockers/${locker.lockerId}/operators`
    const target = method === 'POST' ? operators : `${operators}/x`
    const both = [
      { loc: ['header', 'X-Svc-Envelope'], msg: 'is required', type: 'value_error' },
      { loc: ['header', 'X-Svc-Signature'], msg: 'is required', type: 'value_error' },
    ]
    expect((await raw({ method, target })).body).toMatchObject({ error: 'validation_error', detail: both })
    for (const [i, header] of HEADERS.entries()) {
      for (const value of ['', ' ']) {
        const headers = { 'x-svc-envelope': 'e30', 'x-svc-signature': '1', [header]: value }
        expect((await raw({ method, target, headers })).body).toMatchObject({ detail: [both[i]] })
      }
    }
  })

  it.each(HEADERS)('ENV-18 a GET with an empty %s is a 401', async (header) => {
    const headers = { 'x-svc-envelope': 'e30', 'x-svc-signature': '1', [header]: '' }
    expectRefusal(await raw({ method: 'GET', target: recordPath(), headers }), 401, 'MISSING_ENVELOPE')
  })

  it('ENV-20 VERS-04 no other credential counts', async () => {
    const token = `Bearer ${Buffer.from(JSON.stringify({ locker_id: locker.lockerId })).toString('base64url')}`
    for (const headers of [{ authorization: token }, { 'x-svc-token': token }, { cookie: `session=${token}` }]) {
      expectRefusal(await raw({ method: 'GET', target: recordPath(), headers }), 401, 'MISSING_ENVELOPE')
    }
  })

  it.each(['/v1/auth/challenge', '/v1/auth/login', '/v1/auth/whoami', '/v1/challenge', '/v1/login', '/v1/whoami'])(
    'ENV-20 VERS-04 there is no %s',
    async (target) => {
      for (const method of ['GET', 'POST']) expectRefusal(await raw({ method, target }), 404, 'not_found')
    },
  )

  it('GEN-05 public operations work, also with an envelope that means nothing', async () => {
    for (const headers of [{}, { 'x-svc-envelope': '%%%' }, { 'x-svc-envelope': 'e30', 'x-svc-signature': '0' }]) {
      for (const target of ['/health', '/v1/keys', '/.well-known/svc.json']) {
        expect((await raw({ method: 'GET', target, headers })).status).toBe(200)
      }
    }
  })
})
