import type { RequestEnvelope } from '@svc/protocol/request-envelope'
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
import { type RawRequest, sendRaw } from './send-raw.ts'

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

/** For each op, written down here once more, a request that it permits. */
const NEEDING: Record<
  string,
  (lockerId: string, receiptId: string) => { method: string; path: string; body?: object }
> = {
  'locker:provision': (_, receipt_id) => ({
    method: 'POST',
    path: '/v1/storage/signed_provision',
    body: { receipt_id, tags: [] },
  }),
  'locker:refresh': (_, receipt_id) => ({ method: 'POST', path: '/v1/storage/refresh', body: { receipt_id } }),
  'locker:read': (id) => ({ method: 'GET', path: `/v1/lockers/${id}/manifest` }),
  'locker:list': (id) => ({ method: 'GET', path: `/v1/lockers/${id}/files` }),
  'locker:write': (id) => ({
    method: 'POST',
    path: `/v1/lockers/${id}/files`,
    body: { filename: 'a', content_type: 'text/plain' },
  }),
  'locker:admin': (id) => ({
    method: 'POST',
    path: `/v1/lockers/${id}/operators`,
    body: { pubkey: ed25519Identity().identity },
  }),
  'locker:attest': (_, receiptId) => ({ method: 'POST', path: `/v1/storage/attest?receipt_id=${receiptId}` }),
}

async function reads(changes: Partial<RequestEnvelope>): Promise<number> {
  const request = reading()
  Object.assign(request.envelope, changes)
  return (await sendDraft(house, request)).status
}

describe('a valid envelope', () => {
  it('ENV-02 ENV-03 GEN-07 OPER-07 accepts envelopes of Ed25519 and EVM owners on GET, HEAD, POST and DELETE', async () => {
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

  it('AMB-54 LIM-04 accepts an envelope issued 30 seconds ahead, one that lives 60 seconds and no longer, and one in its last second', async () => {
    const now = Math.floor(house.clock.now() / 1000)
    expect(await reads({ iat: now + 30, exp: now + 90 })).toBe(200)
    expect(await reads({ iat: now - 59, exp: now + 1 })).toBe(200)
    expect(await reads({ iat: now - 60, exp: now })).toBe(403)
    expect(await reads({ iat: now + 10, exp: now + 10 })).toBe(403)
    const long = reading()
    Object.assign(long.envelope, { iat: now, exp: now + 61 })
    expectRefusal(await sendDraft(house, long), 403, 'ENVELOPE_LIFETIME_INVALID')
  })

  it('ENV-10 knows seven ops, and the index lists them', async () => {
    const { body } = await house.send('GET', '/.well-known/svc.json')
    expect((body as { auth: { ops: string[] } }).auth.ops).toEqual(Object.keys(NEEDING))
  })

  it.each(Object.entries(NEEDING))('ENV-10 ENV-09 needs %s for what that op permits', async (op, requestOf) => {
    const { lockerId, receiptId, put } = await house.locker(owner)
    await put('b', 'b')
    const request = { lockerId, receiptId, ...requestOf(lockerId, receiptId) }
    const others = Object.keys(NEEDING).filter((other) => other !== op)
    expectRefusal(await house.call(owner, { ...request, ops: others }), 403, 'MISSING_OPS')
    const { status } = await house.call(owner, { ...request, ops: [op] })
    expect([200, 202]).toContain(status)
  })

  it('AMB-94 accepts an envelope with its receipt_id or without one', async () => {
    expect(await reads({ receipt_id: '' })).toBe(200)
    expect(await reads({ locker_id: '' })).toBe(401)
  })

  it('AMB-55 AMB-94 needs a locker_id or a receipt_id in the envelope where the path names no locker', async () => {
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

  it('ENV-13 AMB-29 accepts an envelope on its own request after another request was refused with it', async () => {
    const request = reading()
    const elsewhere = { ...request, target: `/v1/storage/metadata/${locker.lockerId}` }
    expectRefusal(await sendDraft(house, elsewhere), 403, 'PATH_MISMATCH')
    // An answer to HEAD has only a status.
    expect((await sendDraft(house, { ...request, method: 'HEAD' })).status).toBe(403)
    expect((await sendDraft(house, request)).status).toBe(200)
    expectRefusal(await sendDraft(house, request), 403, 'NONCE_REPLAYED')
  })
})

describe('a body where the method allows none', () => {
  it.each(['GET', 'DELETE'])('AMB-02 ENV-08 answers 401 to %s with a body, however it is sent', async (method) => {
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

describe('a request without an envelope', () => {
  const HEADERS = ['x-svc-envelope', 'x-svc-signature'] as const

  it('ENV-18 AMB-03 ERR-09 answers 401 to a GET without an envelope, and says what to send', async () => {
    const answer = await raw({ method: 'GET', target: recordPath() })
    expectRefusal(answer, 401, 'MISSING_ENVELOPE')
    expect(answer.body).toMatchObject({ hint: expect.stringContaining('X-Svc-Envelope') })
    expect((await raw({ method: 'HEAD', target: recordPath() })).status).toBe(401)
  })

  it.each(['POST', 'DELETE'])(
    'ENV-19 AMB-03 GEN-08 answers 422 to a %s without an envelope, and names each missing header',
    async (method) => {
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
    },
  )

  it('ENV-20 VERS-04 accepts no other credential in place of an envelope', async () => {
    const token = `Bearer ${Buffer.from(JSON.stringify({ locker_id: locker.lockerId })).toString('base64url')}`
    for (const headers of [{ authorization: token }, { 'x-svc-token': token }, { cookie: `session=${token}` }]) {
      expectRefusal(await raw({ method: 'GET', target: recordPath(), headers }), 401, 'MISSING_ENVELOPE')
    }
  })

  it.each(['/v1/auth/challenge', '/v1/auth/login', '/v1/auth/whoami', '/v1/challenge', '/v1/login', '/v1/whoami'])(
    'ENV-20 VERS-04 has no login route %s',
    async (target) => {
      for (const method of ['GET', 'POST']) expectRefusal(await raw({ method, target }), 404, 'not_found')
    },
  )
})
