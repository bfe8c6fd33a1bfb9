import { randomBytes } from 'node:crypto'
import { toHex } from '@svc/protocol/bytes'
import { EMPTY_BODY_SHA256 } from '@svc/protocol/request-envelope'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Draft, draft, sendDraft } from './drafts.ts'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from './lockers.ts'

const METHODS = ['GET', 'POST', 'DELETE'] as const
type Method = (typeof METHODS)[number]

const owner = ed25519Identity()
const operator = ed25519Identity()
const stranger = ed25519Identity()
const usedNonce = toHex(randomBytes(16))
let house: LockerHouse
let locker: TestLocker
let other: TestLocker

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(owner, { operators: [operator] })
  other = await house.locker(owner)
  for (const signer of [owner, operator]) {
    const first = goodRequest('GET')
    first.envelope.nonce = usedNonce
    expect((await sendDraft(house, { ...first, signer })).status).toBe(200)
  }
})
afterAll(() => house.close())

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
  return draft(house, locker, { method, ...calls[method] })
}

interface Fault {
  name: string
  ids: string
  spoil(request: Draft): void
  /** Status and code, by method; a method that is not here cannot have the fault. */
  answers: Partial<Record<Method, [number, string]>>
}

function fault(ids: string, name: string, status: number, code: string, spoil: Fault['spoil']): Fault {
  return { ids, name, spoil, answers: { GET: [status, code], POST: [status, code], DELETE: [status, code] } }
}

function renameLocker(request: Draft, from: string, to: string): void {
  request.target = request.target.replace(from, to)
  request.envelope.path = request.target
}

const NO_LOCKER = 'locker_000000000000'

/** In the order of the checks (AMB-04). */
const FAULTS: readonly Fault[] = [
  fault('SHAPE-01', 'an unknown route', 404, 'not_found', (request) => {
    request.target = '/v1/nothing'
  }),
  {
    ids: 'ENV-18 ENV-19 AMB-03 ERR-09',
    name: 'a missing header',
    spoil(request) {
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
  fault('ENV-04 ENV-16 LIM-05', 'a short nonce', 422, 'validation_error', ({ envelope }) => {
    envelope.nonce = envelope.nonce.slice(2)
  }),
  fault('ENV-12 AMB-94 ERR-08', 'a receipt of another locker', 401, 'RECEIPT_ID_MISMATCH', ({ envelope }) => {
    envelope.receipt_id = 'rcpt_of_nobody'
  }),
  fault('AMB-94', 'the id of another locker', 401, 'LOCKER_ID_MISMATCH', ({ envelope }) => {
    envelope.locker_id = other.lockerId
  }),
  fault('LOCK-04', 'an unknown locker', 404, 'locker_not_found', (request) => {
    renameLocker(request, locker.lockerId, NO_LOCKER)
    request.envelope.locker_id = NO_LOCKER
    request.envelope.receipt_id = ''
  }),
  fault('ENV-11 AMB-28', 'the other sig_alg', 403, 'SIGNATURE_INVALID', ({ envelope }) => {
    envelope.sig_alg = 'secp256k1'
  }),
  fault('ENV-17 ERR-10', "a stranger's signature", 403, 'SIGNATURE_INVALID', (request) => {
    request.signer = stranger
  }),
  fault('ENV-14 ERR-13', 'an exp in the past', 403, 'EXPIRED_ENVELOPE', ({ envelope }) => {
    envelope.exp = Math.floor(house.clock.now() / 1000)
  }),
  fault('AMB-54', 'an iat in the future', 403, 'ENVELOPE_NOT_YET_VALID', ({ envelope }) => {
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
    ids: 'ENV-07 ENV-08 AMB-02 ERR-09 ERR-11',
    name: 'another body hash',
    spoil({ envelope }) {
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
    spoil(request) {
      request.signer = operator
    },
    answers: { POST: [403, 'OWNER_REQUIRED'], DELETE: [403, 'OWNER_REQUIRED'] },
  },
  fault('ENV-13', 'a used nonce', 403, 'NONCE_REPLAYED', ({ envelope }) => {
    envelope.nonce = usedNonce
  }),
  {
    ids: 'GEN-08 OPER-01 OPER-02',
    name: 'input that the operation itself refuses',
    spoil(request) {
      if (request.method === 'DELETE') renameLocker(request, operator.identity, stranger.identity)
      else spoilBody(request, '{"pubkey":5}')
    },
    answers: { POST: [422, 'validation_error'], DELETE: [404, 'OPERATOR_NOT_FOUND'] },
  },
]

function spoilBody(request: Draft, body: string): void {
  const { envelope } = goodBody(body)
  request.body = body
  request.envelope.body_sha256 = envelope.body_sha256
}

const goodBody = (body: string) => draft(house, locker, { method: 'POST', target: '/', ops: [], body })

const of = (method: Method) => FAULTS.filter(({ answers }) => answers[method])
const answerTo = async (request: Draft) => {
  const { status, body } = await sendDraft(house, request)
  return [status, body.error]
}

describe.each(METHODS)('a signed %s', (method) => {
  it.each(of(method))('$ids is refused for $name', async ({ spoil, answers }) => {
    const request = goodRequest(method)
    spoil(request)
    expect(await answerTo(request)).toEqual(answers[method])
  })

  it.each(of(method).slice(0, -1))('AMB-04 is refused for $name before any later check', async (earlier) => {
    const answers: Record<string, unknown> = {}
    const expected: Record<string, unknown> = {}
    const faults = of(method)
    for (const later of faults.slice(faults.indexOf(earlier) + 1)) {
      const request = goodRequest(method)
      later.spoil(request)
      earlier.spoil(request)
      answers[later.name] = await answerTo(request)
      expected[later.name] = earlier.answers[method]
    }
    expect(answers).toEqual(expected)
  })
})
