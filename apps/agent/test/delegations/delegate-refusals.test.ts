import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { type Locker, lockerOf } from '@svc/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { delegationsOf } from '../../src/delegations/store.ts'
import {
  type Agency,
  type AgentCall,
  delegateCall,
  ed25519Person,
  evmPerson,
  expectRefusal,
  openAgency,
  type Person,
} from '../agency.ts'

describe('what is not delegated', () => {
  let agency: Agency
  let owner: Person
  let stranger: Person
  let locker: Locker
  beforeAll(async () => {
    agency = await openAgency({ MAX_DELEGATIONS: '3' })
  })
  afterAll(() => agency.close())
  beforeEach(async () => {
    owner = await agency.grant(ed25519Person())
    stranger = await agency.grant(evmPerson())
    locker = await agency.locker(owner)
  })

  const kept = async (who = owner) => (await delegationsOf(agency.agent.context.database.db, who.identity, 100)).length
  const ask = (change: Partial<AgentCall> = {}, who = owner) => agency.call(who, { ...delegateCall(locker), ...change })

  it('AGENT-04 a locker of somebody else', async () => {
    expectRefusal(await ask({ identity: null }, stranger), 403, 'SIGNATURE_INVALID')
    expectRefusal(await ask({ identity: owner.identity }, stranger), 403, 'SIGNATURE_INVALID')
    expectRefusal(await ask({}, stranger), 403, 'OWNER_IDENTITY_MISMATCH')
    expect([await kept(), await kept(stranger)]).toEqual([0, 0])
  })

  it('AGENT-04 a header that names somebody else than who paid, and one that names nobody', async () => {
    expectRefusal(await ask({ identity: stranger.identity }), 403, 'OWNER_IDENTITY_MISMATCH')
    expectRefusal(await ask({ identity: 'nobody' }), 422, 'validation_error')
    expectRefusal(await ask({ identity: '' }), 422, 'validation_error')
    expect(await kept()).toBe(0)
  })

  it('AGENT-04 an operator of the locker is not its owner', async () => {
    const operator = await agency.grant(ed25519Person())
    await agency.client(owner).addOperator(locker, operator.identity)
    expectRefusal(await ask({ identity: null }, operator), 403, 'SIGNATURE_INVALID')
  })

  it('AGENT-04 the EVM address of an owner counts in any case of its letters', async () => {
    const mine = await agency.locker(stranger)
    const shouted = `0x${stranger.identity.slice(2).toUpperCase()}`
    const { status } = await agency.call(stranger, { ...delegateCall(mine), identity: shouted })
    expect([status, await kept(stranger)]).toEqual([200, 1])
  })

  it('AGENT-04 T-04 an envelope that was used before', async () => {
    const { headers, body } = agency.sign(owner, delegateCall(locker))
    const send = () => agency.send('POST', '/v1/delegate', body, headers)
    const answers = await Promise.all([send(), send(), send()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403])
    expectRefusal(await send(), 403, 'NONCE_REPLAYED')
    expect(await kept()).toBe(1)
  })

  it.each<[string, number, Partial<AgentCall>]>([
    ['MISSING_OPS', 403, { ops: ['locker:read', 'locker:write', 'locker:list'] }],
    ['PATH_MISMATCH', 403, { envelope: { path: '/v1/delegations' } }],
    ['METHOD_MISMATCH', 403, { envelope: { method: 'PUT' } }],
    ['BODY_HASH_MISMATCH', 403, { envelope: { body_sha256: '00'.repeat(32) } }],
    ['RECEIPT_ID_MISMATCH', 401, { receiptId: 'rcpt_test_0001' }],
    ['LOCKER_ID_MISMATCH', 401, { lockerId: 'locker_14fa9d190572' }],
  ])('AGENT-04 T-04 an envelope for something else: %s', async (code, status, change) => {
    expectRefusal(await ask(change), status, code)
    expect(await kept()).toBe(0)
  })

  it('AGENT-04 T-04 an envelope of yesterday, of tomorrow, and none', async () => {
    const now = Math.floor(agency.clock.now() / 1000)
    const at = (iat: number) => ({ envelope: { iat, exp: iat + 60 } })
    expectRefusal(await ask(at(now - 61)), 403, 'EXPIRED_ENVELOPE')
    expectRefusal(await ask(at(now + 60)), 403, 'ENVELOPE_NOT_YET_VALID')
    expectRefusal(await agency.send('POST', '/v1/delegate', locker), 422, 'validation_error')
    expect(await kept()).toBe(0)
  })

  it('AGENT-04 the locker of another receipt', async () => {
    const { locker_id } = await agency.locker(owner)
    const mixed = delegateCall({ receipt_id: locker.receipt_id, locker_id })
    expectRefusal(await agency.call(owner, mixed), 401, 'LOCKER_ID_MISMATCH')
    expect(await kept()).toBe(0)
  })

  it.each([
    ['of another gateway', 'rcpt_test_0001'],
    ['without a name', ''],
    ['that leads elsewhere', '..'],
    ['with a path', 'a/b'],
    ['with a query', '?x=1'],
    ['in another script', 'ö'],
  ])('AGENT-04 a receipt that the gateway does not know: one %s', async (_, receipt_id) => {
    const unknown = { ...delegateCall(lockerOf(receipt_id)), receiptId: '', lockerId: '' }
    expectRefusal(await agency.call(owner, unknown), 404, 'receipt_not_found')
  })

  it('AGENT-04 a receipt without end', async () => {
    const unknown = { ...delegateCall(lockerOf('r'.repeat(200_000))), receiptId: '', lockerId: '' }
    expectRefusal(await agency.call(owner, unknown), 422, 'validation_error')
  })

  it('AGENT-04 SHAPE-43 without a subscription the answer is a fresh quote', async () => {
    const newcomer = ed25519Person()
    const mine = await agency.locker(newcomer)
    const quotes = [
      await agency.call<SubscriptionQuote>(newcomer, delegateCall(mine)),
      await agency.call<SubscriptionQuote>(newcomer, delegateCall(mine)),
    ]
    for (const { status, headers, body } of quotes) {
      expect(status).toBe(402)
      expect(headers.get('payment-required')).toBeTruthy()
      expect(body.extensions.svc.terms.subscription_days).toBe(30)
    }
    const [one, two] = quotes.map(({ body }) => body.extensions.svc.info.pay_req_id)
    expect(one).not.toBe(two)
    expect(await kept(newcomer)).toBe(0)
  })

  it('AGENT-04 SHAPE-43 nor with one that is over, to the second', async () => {
    agency.clock.advance(30 * 86_400 - 1)
    expect((await ask()).status).toBe(200)
    agency.clock.advance(1)
    expect((await ask()).status).toBe(402)
  })

  it('AGENT-04 more lockers at a time than one may delegate', async () => {
    const lockers = [locker]
    while (lockers.length < 4) lockers.push(await agency.locker(owner))
    const answers = await Promise.all(lockers.map((one) => agency.call(owner, delegateCall(one))))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409])
    const refused = answers.findIndex(({ status }) => status === 409)
    expectRefusal(answers[refused]!, 409, 'DELEGATION_LIMIT_EXCEEDED')
    const [first] = await delegationsOf(agency.agent.context.database.db, owner.identity, 100)
    const path = `/v1/delegations/${first!.delegation_id}`
    await agency.call(owner, { method: 'DELETE', path, ops: ['locker:admin'] })
    expect((await agency.call(owner, delegateCall(lockers[refused]!))).status).toBe(200)
  })

  it.each<[string, unknown, (string | number)[]]>([
    ['unknown tasks', { dance: {} }, ['body', 'tasks']],
    ['no sources', { mirror: { sources: [] } }, ['body', 'tasks', 'mirror', 'sources']],
    ['a pause too short', { watch: { every_hours: 0 } }, ['body', 'tasks', 'watch', 'every_hours']],
    ['a webhook without TLS', { tell: { url: 'http://hooks.example/' } }, ['body', 'tasks', 'tell', 'url']],
    ['a private webhook', { tell: { url: 'https://metadata.google.internal/' } }, ['body', 'tasks', 'tell', 'url']],
  ])('AGENT-04 T-08 with %s', async (_, tasks, loc) => {
    const reply = await ask({ body: { ...locker, tasks } })
    expectRefusal(reply, 422, 'validation_error')
    expect((reply.body as { detail: unknown[] }).detail).toContainEqual(expect.objectContaining({ loc }))
    expect(await kept()).toBe(0)
  })

  it('AGENT-04 T-10 strangers are limited before the gateway is asked for them', async () => {
    const busy = await openAgency({ RATE_LIMIT_ADDRESS: '2' })
    try {
      const call = { ...delegateCall(locker), identity: null }
      const codes: number[] = []
      for (let i = 0; i < 4; i++) codes.push((await busy.call(stranger, call)).status)
      expect(codes).toEqual([404, 404, 429, 429])
      expect(busy.between.seen.filter(({ path }) => path.startsWith('/v1/receipts/'))).toHaveLength(2)
    } finally {
      await busy.close()
    }
  })
})
