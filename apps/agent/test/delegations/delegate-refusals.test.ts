import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { forEachTest } from '@svc/devnet/for-tests'
import { lockerOf } from '@svc/sdk'
import { describe, expect, it } from 'vitest'
import { delegationsOf } from '../../src/delegations/store.ts'
import { type AgentCall, delegateCall, expectRefusal, useAgentStack } from '../agent-stack.ts'
import { ed25519Wallet, evmWallet } from '../wallets.ts'

const ADDRESSES: Record<string, { address: string; family: number }[]> = {
  'files.example': [{ address: '93.184.215.14', family: 4 }],
  'inside.example': [{ address: '10.0.0.1', family: 4 }],
  'both.example': [
    { address: '93.184.215.14', family: 4 },
    { address: 'fd00::1', family: 6 },
  ],
}

const answerSlowly = Promise.withResolvers<[]>()

describe('the validation of a delegation', () => {
  const stack = useAgentStack(() => ({ MAX_DELEGATIONS: '3' }), {
    resolve: async (host) => (host === 'slow.example' ? answerSlowly.promise : (ADDRESSES[host] ?? [])),
  })
  const owner = forEachTest(() => stack.grantSubscription(ed25519Wallet()))
  const otherOwner = forEachTest(() => stack.grantSubscription(evmWallet()))
  const locker = forEachTest(() => stack.seedLocker(owner))

  const countDelegations = async (who = owner) =>
    (await delegationsOf(stack.agent.context.database.db, who.identity, 100)).length
  const send = (change: Partial<AgentCall> = {}, who = owner) => stack.call(who, { ...delegateCall(locker), ...change })

  it('AGENT-04 rejects a locker of another owner', async () => {
    expectRefusal(await send({ identity: null }, otherOwner), 403, 'SIGNATURE_INVALID')
    expectRefusal(await send({ identity: owner.identity }, otherOwner), 403, 'SIGNATURE_INVALID')
    expectRefusal(await send({}, otherOwner), 403, 'OWNER_IDENTITY_MISMATCH')
    expect([await countDelegations(), await countDelegations(otherOwner)]).toEqual([0, 0])
  })

  it('AGENT-04 rejects an identity header that does not name the payer, or is malformed', async () => {
    expectRefusal(await send({ identity: otherOwner.identity }), 403, 'OWNER_IDENTITY_MISMATCH')
    expectRefusal(await send({ identity: 'nobody' }), 422, 'validation_error')
    expectRefusal(await send({ identity: '' }), 422, 'validation_error')
    expect(await countDelegations()).toBe(0)
  })

  it('AGENT-04 rejects an operator who does not own the locker', async () => {
    const operator = await stack.grantSubscription(ed25519Wallet())
    await stack.client(owner).addOperator(locker, operator.identity)
    expectRefusal(await send({ identity: null }, operator), 403, 'SIGNATURE_INVALID')
  })

  it.each<[string, number, Partial<AgentCall>]>([
    ['MISSING_OPS', 403, { ops: ['locker:read', 'locker:write', 'locker:list'] }],
    ['AUDIENCE_MISMATCH', 403, { envelope: { aud: 'https://other.example' } }],
    ['BODY_HASH_MISMATCH', 403, { envelope: { body_sha256: '00'.repeat(32) } }],
    ['RECEIPT_ID_MISMATCH', 401, { receiptId: 'rcpt_test_0001' }],
    ['LOCKER_ID_MISMATCH', 401, { lockerId: 'locker_14fa9d190572' }],
  ])('T-04 T-55 rejects an envelope for another request with %s', async (code, status, change) => {
    expectRefusal(await send(change), status, code)
    expect(await countDelegations()).toBe(0)
  })

  it('AGENT-04 rejects the locker of another receipt', async () => {
    const { locker_id } = await stack.seedLocker(owner)
    const mixed = delegateCall({ receipt_id: locker.receipt_id, locker_id })
    expectRefusal(await stack.call(owner, mixed), 401, 'LOCKER_ID_MISMATCH')
    expect(await countDelegations()).toBe(0)
  })

  it.each([
    ['of another gateway', 'rcpt_test_0001'],
    ['that is a relative path', '..'],
    ['with a query', '?x=1'],
  ])('AGENT-04 answers 404 for a receipt %s', async (_, receipt_id) => {
    const unknown = { ...delegateCall(lockerOf(receipt_id)), receiptId: '', lockerId: '' }
    expectRefusal(await stack.call(owner, unknown), 404, 'receipt_not_found')
  })

  it.each(['inside.example', 'both.example', '192.168.1.1'])(
    'T-08 rejects webhooks and mirrors at %s because it is not public',
    async (host) => {
      const good = { url: 'https://files.example/a', filename: 'a' }
      const tasks = {
        tell: { url: `https://${host}/hook` },
        mirror: { sources: [good, { url: `https://${host}/b`, filename: 'b' }] },
      }
      const refused = await stack.call(owner, delegateCall(locker, tasks))
      expectRefusal(refused, 422, 'validation_error')
      const { detail } = refused.body as { detail: { loc: unknown[]; msg: string }[] }
      expect(detail.map(({ loc }) => loc)).toEqual([
        ['body', 'tasks', 'mirror', 'sources', 1, 'url'],
        ['body', 'tasks', 'tell', 'url'],
      ])
      for (const { msg } of detail) expect(msg).toContain('public')
      expect(await countDelegations()).toBe(0)
    },
  )

  it('T-35 limits the delegations of one owner whose hosts are resolved concurrently', async () => {
    const tasks = { tell: { url: 'https://slow.example/' } }
    const begun = Array.from({ length: 5 }, () => stack.call(owner, delegateCall(locker, tasks)))
    const refused = await Promise.race(begun)
    expectRefusal(refused, 429, 'RATE_LIMITED')
    expect(refused.headers.get('retry-after')).toBe('5')
    answerSlowly.resolve([])
    expect((await Promise.all(begun)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429])
  })

  it('T-08 accepts hosts that are public or cannot be resolved at the moment', async () => {
    const tasks = { tell: { url: 'https://nowhere.example/' } }
    expect((await stack.call(owner, delegateCall(locker, tasks))).status).toBe(200)
    const mirror = { sources: [{ url: 'https://files.example/a', filename: 'a' }] }
    expect((await stack.call(owner, delegateCall(locker, { mirror }))).status).toBe(200)
  })

  it('AGENT-04 answers with a new quote when the owner has no subscription or an expired one', async () => {
    const newcomer = ed25519Wallet()
    const mine = await stack.seedLocker(newcomer)
    const askForQuote = async () => {
      const { status, headers, body } = await stack.call<SubscriptionQuote>(newcomer, delegateCall(mine))
      expect([status, headers.has('payment-required')]).toEqual([402, true])
      return body.extensions.svc.info.pay_req_id
    }
    expect(await askForQuote()).not.toBe(await askForQuote())
    expect(await countDelegations(newcomer)).toBe(0)
    await stack.grantSubscription(newcomer)
    stack.clock.advance(30 * 86_400 - 1)
    expect((await stack.call(newcomer, delegateCall(mine))).status).toBe(200)
    stack.clock.advance(1)
    await askForQuote()
  })

  it.each<[string, unknown, (string | number)[]]>([
    ['unknown tasks', { dance: {} }, ['body', 'tasks']],
    ['no sources', { mirror: { sources: [] } }, ['body', 'tasks', 'mirror', 'sources']],
    ['a period that is too short', { watch: { every_hours: 0 } }, ['body', 'tasks', 'watch', 'every_hours']],
  ])('AGENT-04 T-08 rejects %s', async (_, tasks, loc) => {
    const reply = await send({ body: { ...locker, tasks } })
    expectRefusal(reply, 422, 'validation_error')
    expect((reply.body as { detail: unknown[] }).detail).toContainEqual(expect.objectContaining({ loc }))
    expect(await countDelegations()).toBe(0)
  })
})
