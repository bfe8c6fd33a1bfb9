import type { Variables } from '@svc/http-service/config'
import { bytesOf } from '@svc/testbed/signing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Agency, type AgentCall, ed25519Person, evmPerson, expectRefusal, openAgency } from '../agent-stack.ts'
import { startSecondAgent } from '../subscription-api.ts'

let agency: Agency
beforeAll(async () => {
  agency = await openAgency()
})
afterAll(() => agency.close())

const ann = ed25519Person()
const bob = evmPerson()
const LISTING: AgentCall = { path: '/v1/delegations', ops: ['locker:read'] }
const list = (changes: Partial<AgentCall> = {}, who = ann) => agency.call(who, { ...LISTING, ...changes })
const repeat = (headers: Record<string, string>) => agency.send('GET', LISTING.path, undefined, headers)

async function secondAgent(variables: Variables) {
  const agent = await startSecondAgent(agency, variables)
  onTestFinished(() => agent.stop())
  return async (headers: Record<string, string>) => {
    const response = await fetch(agent.url + LISTING.path, { headers })
    return { status: response.status, headers: response.headers, body: (await response.json()) as { error?: string } }
  }
}

describe('AGENT-04 who speaks', () => {
  it.each([
    ['an Ed25519 key', ann],
    ['an EVM wallet', bob],
  ])('is %s that names itself and signs', async (_, who) => {
    expect(await list({}, who)).toMatchObject({ status: 200, body: { subscription: null, delegations: [] } })
  })

  it('is not known without the header, and that is a 422', async () => {
    for (const identity of [null, 'me', `${ann.identity}, ${bob.identity}`])
      expectRefusal(await list({ identity }), 422, 'validation_error')
  })

  it('is nobody else than who signed', async () => {
    for (const identity of [bob.identity, ed25519Person().identity])
      expectRefusal(await list({ identity }), 403, 'SIGNATURE_INVALID')
    expectRefusal(await list({ identity: ann.identity }, bob), 403, 'SIGNATURE_INVALID')
  })

  it('is not known without an envelope, or with something that is none', async () => {
    const headers = { 'x-svc-identity': ann.identity }
    expectRefusal(await repeat(headers), 401, 'MISSING_ENVELOPE')
    const signed = agency.sign(ann, LISTING).headers
    expectRefusal(await repeat({ ...signed, 'x-svc-signature': '' }), 401, 'MISSING_ENVELOPE')
    expectRefusal(await repeat({ ...signed, 'x-svc-envelope': 'e30' }), 422, 'validation_error')
    expectRefusal(await repeat({ ...signed, 'x-svc-signature': 'x'.repeat(88) }), 403, 'SIGNATURE_INVALID')
  })
})

describe('an envelope', () => {
  it('T-04 is good once, also of 20 at once, also at another process', async () => {
    const { headers } = agency.sign(ann, LISTING)
    const elsewhere = await secondAgent({})
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => repeat(headers)))).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, ...Array<number>(19).fill(403)])
    expectRefusal(await repeat(headers), 403, 'NONCE_REPLAYED')
    expectRefusal(await elsewhere(headers), 403, 'NONCE_REPLAYED')
  })

  it('T-04 is not good for another request', async () => {
    const ending = `/v1/delegations/dlg_${'0'.repeat(32)}`
    const { headers } = agency.sign(ann, LISTING)
    expectRefusal(await agency.send('GET', ending, undefined, headers), 403, 'PATH_MISMATCH')
    const reading = agency.sign(ann, { ...LISTING, path: ending, ops: ['locker:read', 'locker:admin'] })
    expectRefusal(await agency.send('DELETE', ending, undefined, reading.headers), 403, 'METHOD_MISMATCH')
    expectRefusal(await list({ envelope: { path: '/v1/lockers' } }), 403, 'PATH_MISMATCH')
  })

  it('T-14 that another identity signed does not become this one by its header', async () => {
    const { headers } = agency.sign(bob, LISTING)
    expectRefusal(await repeat({ ...headers, 'x-svc-identity': ann.identity }), 403, 'SIGNATURE_INVALID')
    expect((await repeat(headers)).status).toBe(200)
  })

  it('must be of now, short-lived, and for this', async () => {
    const iat = Math.floor(agency.clock.now() / 1000)
    const refusal = async (envelope: AgentCall['envelope'] & object) => {
      const { status, body } = await list({ envelope })
      return [status, (body as { error: string }).error]
    }
    expect(await refusal({ iat: iat - 60, exp: iat })).toEqual([403, 'EXPIRED_ENVELOPE'])
    expect(await refusal({ iat: iat + 300, exp: iat + 360 })).toEqual([403, 'ENVELOPE_NOT_YET_VALID'])
    expect(await refusal({ exp: iat + 3600 })).toEqual([403, 'ENVELOPE_LIFETIME_INVALID'])
    expect(await refusal({ ops: ['locker:write'] })).toEqual([403, 'MISSING_OPS'])
    expect(await refusal({ body_sha256: 'ab'.repeat(32) })).toEqual([401, 'BODY_HASH_MISMATCH'])
  })

  it('T-04 its nonce is kept until it is over', async () => {
    const { headers } = agency.sign(ann, LISTING)
    expect((await repeat(headers)).status).toBe(200)
    agency.clock.advance(59)
    await agency.agent.context.queue.drain()
    expectRefusal(await repeat(headers), 403, 'NONCE_REPLAYED')
    agency.clock.advance(1)
    expectRefusal(await repeat(headers), 403, 'EXPIRED_ENVELOPE')
  })
})

describe('T-10 limits', () => {
  it('an address shows so many wrong signatures a minute, and then none is looked at', async () => {
    const ask = await secondAgent({ RATE_LIMIT_ADDRESS: '3' })
    const forged = () => agency.sign(bob, { ...LISTING, identity: ann.identity }).headers
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await ask(forged())).status)
    expect(statuses).toEqual([403, 403, 403, 429, 429])
    agency.clock.advance(60)
    expect((await ask(agency.sign(ann, LISTING).headers)).status).toBe(200)
  })

  it('an identity asks so often a minute, and others do not use that up', async () => {
    const ask = await secondAgent({ RATE_LIMIT_IDENTITY: '2' })
    const signed = () => agency.sign(ann, LISTING).headers
    const first = signed()
    expect((await ask(first)).status).toBe(200)
    for (let i = 0; i < 3; i++) expect((await ask(first)).body.error).toBe('NONCE_REPLAYED')
    expect((await ask({ ...signed(), 'x-svc-identity': bob.identity })).status).toBe(403)
    expect((await ask(signed())).status).toBe(200)
    expect((await ask(signed())).body.error).toBe('RATE_LIMITED')
    expect((await ask(agency.sign(bob, LISTING).headers)).status).toBe(200)
  })
})

it('T-11 a body of more than a mebibyte is refused unread', async () => {
  const large = bytesOf(JSON.stringify({ receipt_id: 'x'.repeat(1_100_000) }))
  const call = { method: 'POST', path: '/v1/delegate', body: large, ops: ['locker:admin'] }
  expectRefusal(await agency.call(ann, call), 413, 'body_too_large')
})
