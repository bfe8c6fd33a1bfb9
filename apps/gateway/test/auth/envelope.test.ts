import { randomBytes } from 'node:crypto'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { toHex } from '@svc/protocol/bytes'
import { EMPTY_BODY_SHA256, type RequestEnvelope } from '@svc/protocol/request-envelope'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Draft, draft, sendDraft } from './drafts.ts'
import { type RawRequest, sendRaw } from './send-raw.ts'

const METHODS = ['GET', 'POST', 'DELETE'] as const
type Method = (typeof METHODS)[number]

const owner = ed25519Identity()
const operator = ed25519Identity()
const unknownKey = ed25519Identity()
const usedNonce = toHex(randomBytes(16))
let instance: TestGateway
let locker: TestLocker
let other: TestLocker
let evmLocker: TestLocker

beforeAll(async () => {
  instance = await openTestGateway()
  locker = await instance.locker(owner, { operators: [operator] })
  other = await instance.locker(owner)
  evmLocker = await instance.locker(evmIdentity())
  for (const signer of [owner, operator]) {
    const first = goodRequest('GET')
    first.envelope.nonce = usedNonce
    expect((await sendDraft(instance, { ...first, signer })).status).toBe(200)
  }
})
afterAll(() => instance.close())

function goodRequest(method: Method): Draft {
  const base = `/v1/lockers/${locker.lockerId}`
  const calls = {
    GET: { target: `${base}/record`, ops: ['locker:read'] },
    POST: {
      target: `${base}/operators`,
      ops: ['locker:admin'],
      body: JSON.stringify({ pubkey: ed25519Identity().identity }),
    },
    DELETE: { target: `${base}/operators/${operator.identity}`, ops: ['locker:admin'] },
  }
  return draft(instance, locker, { method, ...calls[method] })
}

interface Fault {
  name: string
  ids: string
  corrupt(request: Draft): void
  /** Status and code by method. A method that is missing here cannot have the fault. */
  answers: Partial<Record<Method, [number, string]>>
}

function fault(ids: string, name: string, status: number, code: string, corrupt: Fault['corrupt']): Fault {
  return { ids, name, corrupt, answers: { GET: [status, code], POST: [status, code], DELETE: [status, code] } }
}

function renameLocker(request: Draft, from: string, to: string): void {
  request.target = request.target.replace(from, to)
  request.envelope.path = request.target
}

const NO_LOCKER = 'locker_000000000000'

/** In the order of the checks (AMB-04). */
const FAULTS: readonly Fault[] = [
  fault('GEN-02', 'an unknown route', 404, 'not_found', (request) => {
    request.target = '/v1/nothing'
  }),
  {
    ids: 'ENV-18 ERR-09',
    name: 'a missing header',
    corrupt(request) {
      const { headers } = request
      request.headers = (signed) => {
        const { 'x-svc-signature': _, ...rest } = headers(signed)
        return rest
      }
    },
    answers: { GET: [401, 'MISSING_ENVELOPE'], POST: [422, 'validation_error'], DELETE: [422, 'validation_error'] },
  },
  fault('GEN-08', 'a bad path', 422, 'validation_error', (request) => {
    request.target = request.target.replace(/locker_[0-9a-f]{12}/, 'a%00')
  }),
  fault('ENV-01 ERR-10', 'a padded envelope', 403, 'SIGNATURE_INVALID', (request) => {
    const { headers } = request
    request.headers = (signed) => headers({ ...signed, 'x-svc-envelope': `${signed['x-svc-envelope']}=` })
  }),
  fault('ENV-16 LIM-05', 'a short nonce', 422, 'validation_error', ({ envelope }) => {
    envelope.nonce = envelope.nonce.slice(2)
  }),
  fault('ENV-12 ERR-08', 'a receipt of another locker', 401, 'RECEIPT_ID_MISMATCH', ({ envelope }) => {
    envelope.receipt_id = 'rcpt_of_nobody'
  }),
  fault('ENV-12', 'the id of another locker', 401, 'LOCKER_ID_MISMATCH', ({ envelope }) => {
    envelope.locker_id = other.lockerId
  }),
  fault('LOCK-04', 'an unknown locker', 404, 'locker_not_found', (request) => {
    renameLocker(request, locker.lockerId, NO_LOCKER)
    request.envelope.locker_id = NO_LOCKER
    request.envelope.receipt_id = ''
  }),
  fault('ENV-11', 'the other sig_alg', 403, 'SIGNATURE_INVALID', ({ envelope }) => {
    envelope.sig_alg = 'secp256k1'
  }),
  fault('ENV-17 ERR-10', 'the signature of an unknown key', 403, 'SIGNATURE_INVALID', (request) => {
    request.signer = unknownKey
  }),
  fault('ENV-14 ERR-13', 'an exp in the past', 403, 'EXPIRED_ENVELOPE', ({ envelope }) => {
    envelope.exp = Math.floor(instance.clock.now() / 1000)
  }),
  fault('ENV-04', 'an iat in the future', 403, 'ENVELOPE_NOT_YET_VALID', ({ envelope }) => {
    envelope.iat += 31
    envelope.exp += 31
  }),
  fault('ENV-15 LIM-04', 'a lifetime that is too long', 403, 'ENVELOPE_LIFETIME_INVALID', ({ envelope }) => {
    envelope.exp += 1
  }),
  fault('ENV-05', 'another method', 403, 'METHOD_MISMATCH', ({ envelope }) => {
    envelope.method = 'PUT'
  }),
  fault('ENV-06', 'another path', 403, 'PATH_MISMATCH', ({ envelope }) => {
    envelope.path += '/more'
  }),
  {
    ids: 'ERR-09 ERR-11',
    name: 'another body hash',
    corrupt({ envelope }) {
      envelope.body_sha256 = EMPTY_BODY_SHA256
    },
    answers: {
      GET: [401, 'BODY_HASH_MISMATCH'],
      POST: [403, 'BODY_HASH_MISMATCH'],
      DELETE: [401, 'BODY_HASH_MISMATCH'],
    },
  },
  fault('ENV-09 ERR-12', 'a missing op', 403, 'MISSING_OPS', ({ envelope }) => {
    envelope.ops = ['locker:write', 'locker:provision']
  }),
  {
    ids: 'OPER-03 ERR-14',
    name: 'an operator where only the owner may act',
    corrupt(request) {
      request.signer = operator
    },
    answers: { POST: [403, 'OWNER_REQUIRED'], DELETE: [403, 'OWNER_REQUIRED'] },
  },
  fault('ENV-13', 'a used nonce', 403, 'NONCE_REPLAYED', ({ envelope }) => {
    envelope.nonce = usedNonce
  }),
  {
    ids: 'OPER-01 OPER-02',
    name: 'input that the operation itself refuses',
    corrupt(request) {
      if (request.method === 'DELETE') renameLocker(request, operator.identity, unknownKey.identity)
      else corruptBody(request, '{"pubkey":5}')
    },
    answers: { POST: [422, 'validation_error'], DELETE: [404, 'OPERATOR_NOT_FOUND'] },
  },
]

function corruptBody(request: Draft, body: string): void {
  const { envelope } = goodBody(body)
  request.body = body
  request.envelope.body_sha256 = envelope.body_sha256
}

const goodBody = (body: string) => draft(instance, locker, { method: 'POST', target: '/', ops: [], body })

const of = (method: Method) => FAULTS.filter(({ answers }) => answers[method])
const answerTo = async (request: Draft) => {
  const { status, body } = await sendDraft(instance, request)
  return [status, body.error]
}

describe.each(METHODS)('a signed %s', (method) => {
  it.each(of(method))('$ids is refused for $name', async ({ corrupt, answers }) => {
    const request = goodRequest(method)
    corrupt(request)
    expect(await answerTo(request)).toEqual(answers[method])
  })

  it.each(of(method).slice(0, -1))('AMB-04 is refused for $name before any later check', async (earlier) => {
    const answers: Record<string, unknown> = {}
    const expected: Record<string, unknown> = {}
    const faults = of(method)
    for (const later of faults.slice(faults.indexOf(earlier) + 1)) {
      const request = goodRequest(method)
      later.corrupt(request)
      earlier.corrupt(request)
      answers[later.name] = await answerTo(request)
      expected[later.name] = earlier.answers[method]
    }
    expect(answers).toEqual(expected)
  })
})

const recordPath = () => `/v1/lockers/${locker.lockerId}/record`
const reading = (ops = ['locker:read']) => draft(instance, locker, { method: 'GET', target: recordPath(), ops })
const refreshing = (body?: string) =>
  draft(instance, locker, { method: 'POST', target: '/v1/storage/refresh', ops: ['locker:refresh'], body })
const raw = (request: RawRequest) => sendRaw(instance.gateway.url, request)

/** For each op, a request that it permits; repeats the specification on purpose. */
const NEEDING: Record<string, (lockerId: string, receiptId: string) => [method: string, path: string, body?: object]> =
  {
    'locker:provision': (_, receipt_id) => ['POST', '/v1/storage/signed_provision', { receipt_id, tags: [] }],
    'locker:refresh': (_, receipt_id) => ['POST', '/v1/storage/refresh', { receipt_id }],
    'locker:read': (id) => ['GET', `/v1/lockers/${id}/manifest`],
    'locker:list': (id) => ['GET', `/v1/lockers/${id}/files`],
    'locker:write': (id) => ['POST', `/v1/lockers/${id}/files`, { filename: 'a', content_type: 'text/plain' }],
    'locker:admin': (id) => ['POST', `/v1/lockers/${id}/operators`, { pubkey: ed25519Identity().identity }],
    'locker:attest': (_, receiptId) => ['POST', `/v1/storage/attest?receipt_id=${receiptId}`],
  }

async function reads(changes: Partial<RequestEnvelope>): Promise<number> {
  const request = reading()
  Object.assign(request.envelope, changes)
  return (await sendDraft(instance, request)).status
}

describe('a valid envelope', () => {
  it('GEN-07 OPER-07 accepts envelopes of Ed25519 and EVM owners on GET, HEAD, POST and DELETE', async () => {
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
      for (const call of calls) expect((await instance.call(owner, call)).status).toBe(200)
    }
  })

  it('ENV-04 LIM-04 accepts an envelope issued 30 seconds ahead, one with a lifetime of exactly 60 seconds, and one in its last second', async () => {
    const now = Math.floor(instance.clock.now() / 1000)
    expect(await reads({ iat: now + 30, exp: now + 90 })).toBe(200)
    expect(await reads({ iat: now - 59, exp: now + 1 })).toBe(200)
    expect(await reads({ iat: now - 60, exp: now })).toBe(403)
    expect(await reads({ iat: now + 10, exp: now + 10 })).toBe(403)
    const long = reading()
    Object.assign(long.envelope, { iat: now, exp: now + 61 })
    expectRefusal(await sendDraft(instance, long), 403, 'ENVELOPE_LIFETIME_INVALID')
  })

  it('ENV-10 knows seven ops, and the index lists them', async () => {
    const { body } = await instance.send('GET', '/.well-known/svc.json')
    expect((body as { auth: { ops: string[] } }).auth.ops).toEqual(Object.keys(NEEDING))
  })

  it.each(Object.entries(NEEDING))(
    'ENV-10 ENV-09 requires %s for the requests that it permits',
    async (op, requestOf) => {
      const { lockerId, receiptId, put } = await instance.locker(owner)
      await put('b', 'b')
      const [method, path, body] = requestOf(lockerId, receiptId)
      const request = { lockerId, receiptId, method, path, body }
      const others = Object.keys(NEEDING).filter((other) => other !== op)
      expectRefusal(await instance.call(owner, { ...request, ops: others }), 403, 'MISSING_OPS')
      const { status } = await instance.call(owner, { ...request, ops: [op] })
      expect([200, 202]).toContain(status)
    },
  )

  it('ENV-12 accepts an envelope with its receipt_id or without one', async () => {
    expect(await reads({ receipt_id: '' })).toBe(200)
    expect(await reads({ locker_id: '' })).toBe(401)
  })

  it('LOCK-10 ENV-12 needs a locker_id or a receipt_id in the envelope where the path names no locker', async () => {
    const refreshed = async (changes: Partial<RequestEnvelope>) => {
      const request = refreshing('{}')
      Object.assign(request.envelope, changes)
      return sendDraft(instance, request)
    }
    for (const changes of [{}, { receipt_id: '' }, { locker_id: '' }]) {
      const { status, body } = await refreshed(changes)
      expect([status, body]).toMatchObject([200, { locker_id: locker.lockerId }])
    }
    expectRefusal(await refreshed({ locker_id: '', receipt_id: '' }), 401, 'LOCKER_ID_MISMATCH')
    expectRefusal(await refreshed({ locker_id: evmLocker.lockerId }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await refreshed({ locker_id: '', receipt_id: 'rcpt_of_nobody' }), 404, 'locker_not_found')
  })

  it('ENV-13 accepts an envelope on its own request after another request was refused with it', async () => {
    const request = reading()
    const elsewhere = { ...request, target: `/v1/storage/metadata/${locker.lockerId}` }
    expectRefusal(await sendDraft(instance, elsewhere), 403, 'PATH_MISMATCH')
    // A response to HEAD has only a status.
    expect((await sendDraft(instance, { ...request, method: 'HEAD' })).status).toBe(403)
    expect((await sendDraft(instance, request)).status).toBe(200)
    expectRefusal(await sendDraft(instance, request), 403, 'NONCE_REPLAYED')
  })
})

it.each(['GET', 'DELETE'])(
  'ENV-07 ENV-08 the gateway answers 401 to %s with a body, however it is sent',
  async (method) => {
    const target = method === 'GET' ? recordPath() : `/v1/lockers/${locker.lockerId}/operators/x`
    const ops = method === 'GET' ? ['locker:read'] : ['locker:admin']
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const request = draft(instance, locker, { method, target, ops, body: '{}' })
      request.headers = (signed) => ({ ...signed, ...headers })
      expectRefusal(await sendDraft(instance, request), 401, 'BODY_HASH_MISMATCH')
      const chunked = draft(instance, locker, { method, target, ops, body: '{}' })
      chunked.headers = (signed) => ({ ...signed, ...headers, 'transfer-encoding': 'chunked' })
      expectRefusal(await sendDraft(instance, chunked), 401, 'BODY_HASH_MISMATCH')
    }
  },
)

describe('a request without an envelope', () => {
  const HEADERS = ['x-svc-envelope', 'x-svc-signature'] as const

  it('ENV-18 ERR-09 answers 401 to a GET without an envelope, and says what to send', async () => {
    const answer = await raw({ method: 'GET', target: recordPath() })
    expectRefusal(answer, 401, 'MISSING_ENVELOPE')
    expect(answer.body).toMatchObject({ hint: expect.stringContaining('X-Svc-Envelope') })
    expect((await raw({ method: 'HEAD', target: recordPath() })).status).toBe(401)
  })

  it.each(['POST', 'DELETE'])(
    'ENV-19 GEN-08 answers 422 to a %s without an envelope, and names each missing header',
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
})
