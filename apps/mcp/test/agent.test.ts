// The tools for subscriptions and delegations.

import { join } from 'node:path'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { type AgentMarket, openAgentMarket } from '@svc/sdk/test/agents'
import { seedLocker } from '@svc/testbed/seed-lockers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, type TestServer, textOf } from './client.ts'
import { openShopIn, type Shop } from './shop.ts'

let market: AgentMarket
let shop: Shop
let server: TestServer
beforeAll(async () => {
  market = await openAgentMarket()
  shop = await openShopIn(market)
  server = await start('solana')
})
afterAll(() => shop.close())
afterEach(() => {
  market.proxy.behave()
  market.agentProxy.behave()
})

let count = 0
const start = (chain: 'solana' | 'evm' | null, variables = {}) =>
  shop.start('memory', chain, {
    SVC_GATEWAY: market.proxy.url,
    SVC_AGENT: market.agentProxy.url,
    SVC_MCP_MAX_USD: '5',
    SVC_MCP_MAX_USD_PER_DAY: '20',
    SVC_MCP_STATE: join(shop.desk.folder, `state-${++count}`),
    ...variables,
  })

async function newLocker(): Promise<string> {
  return (await seedLocker(market.gateway.context, { owner: DEMO_PAYERS[0]!.address })).receipt_id
}

describe('subscribe', () => {
  it('AGENT-01 AGENT-02 shows the price for free, pays once, and returns the same purchase when called again', async () => {
    const receipt_id = await newLocker()
    const status = await server.call('agent_status')
    expect(status).toMatchObject({ subscription: null, delegations: [] })
    expect(textOf(await server.ask('agent_status'))).toContain('ask the user')
    expect(status.thirty_days_cost).toContainEqual(expect.objectContaining({ asset: 'USDC', amount: '5' }))
    expect(codeOf(await server.ask('delegate', { receipt_id }))).toBe('not_subscribed')

    const before = await market.agentTreasury('USDC')
    const first = await server.call('subscribe')
    expect(first).toMatchObject({ new_payment: true, paid: { amount: '5', asset: 'USDC' } })
    const again = await server.ask('subscribe')
    expect(again.structuredContent).toEqual({ ...first, new_payment: false })
    expect(textOf(again)).toContain('no new payment was made')
    expect((await market.agentTreasury('USDC')) - before).toBe(5_000_000n)
    expect((await server.call('agent_status')).subscription).toMatchObject({ status: 'active' })

    const { intent } = first
    expect(await server.call('purchase_status', { intent })).toMatchObject({ of: 'subscription', state: 'complete' })
    expect((await server.call('purchase_status')).purchases).toMatchObject([
      { intent, of: 'subscription', usd: '5.00' },
    ])
  })

  it('adds thirty days for another intent; storage and subscriptions share the daily limit', async () => {
    const limited = await start('solana', { SVC_MCP_MAX_USD_PER_DAY: '10' })
    const [a, b] = [await limited.call('subscribe', { intent: 'a' }), await limited.call('subscribe', { intent: 'b' })]
    expect(Date.parse(String(b.expires_at)) - Date.parse(String(a.expires_at))).toBe(30 * 86_400_000)
    const before = [await market.agentTreasury('USDC'), await market.treasury('USDC')]
    expect(codeOf(await limited.ask('subscribe', { intent: 'c' }))).toBe('over_day_limit')
    expect(codeOf(await limited.ask('buy', { units: 1, intent: 'a' }))).toBe('over_day_limit')
    expect([await market.agentTreasury('USDC'), await market.treasury('USDC')]).toEqual(before)
  })

  it('pays nothing above the purchase limit, without a wallet or without an agent service', async () => {
    const before = await market.agentTreasury('USDC')
    const poor = await start('solana', { SVC_MCP_MAX_USD: '1' })
    const refused = await poor.ask('subscribe')
    expect(codeOf(refused)).toBe('over_purchase_limit')
    expect(textOf(refused)).toMatch(/SVC_MCP_MAX_USD to 5\.00 or more/)
    const poorDay = await start('solana', { SVC_MCP_MAX_USD_PER_DAY: '4' })
    expect(textOf(await poorDay.ask('subscribe'))).toMatch(/over_day_limit.*SVC_MCP_MAX_USD_PER_DAY to 5\.00 or more/)
    expect(codeOf(await (await start(null)).ask('subscribe'))).toBe('no_wallet')
    const alone = await start('solana', { SVC_GATEWAY: 'https://gateway.example', SVC_AGENT: '' })
    expect(codeOf(await alone.ask('subscribe'))).toBe('no_agent')
    expect(await market.agentTreasury('USDC')).toBe(before)
  })

  it('T-16 resumes a paid but unfinished purchase by the same intent without paying again', async () => {
    const fresh = await start('evm', { SVC_MCP_MAX_USD: '5.01' })
    const gone = { status: 404, body: { error: 'pay_req_not_found', message: 'gone', request_id: 'r' } }
    market.agentProxy.always(/service\/confirm/, { answer: gone })
    const before = await market.agentTreasury('USDC on EVM')
    const failed = await fresh.ask('subscribe', { intent: 'cut short' })
    expect([codeOf(failed), textOf(failed)]).toEqual(['paid_but_unfinished', expect.stringContaining('SAME intent')])
    const intent = 'cut short'
    expect(await fresh.call('purchase_status', { intent })).toMatchObject({ state: 'receipt_missing' })
    market.agentProxy.behave()
    expect(await fresh.call('subscribe', { intent })).toMatchObject({ new_payment: false })
    expect((await market.agentTreasury('USDC on EVM')) - before).toBe(5_000_000n)
  })
})

describe('delegate', () => {
  it('AGENT-04 gives the agent access, reports its findings, and ends the delegation', async () => {
    const receipt_id = await newLocker()
    const { delegation_id, agent_pubkey, tasks } = await server.call('delegate', { receipt_id })
    expect(tasks).toMatchObject({ watch: { every_hours: 24 } })
    await market.work()
    await market.work(60)
    const { delegations, log } = await server.call('agent_status', { delegation_id })
    expect(delegations).toMatchObject([{ delegation_id, receipt_id, status: 'active', agent_pubkey, alerts: 0 }])
    expect(log).toMatchObject([{ sequence: 1, kind: 'baseline' }])
    expect(await server.call('end_delegation', { delegation_id })).toMatchObject({ receipt_id, status: 'ended' })
    expect(await server.call('end_delegation', { delegation_id })).toMatchObject({ status: 'ended' })
  })

  it('T-197 of a receipt that nobody knows leads to list_lockers', async () => {
    const result = await server.ask('delegate', { receipt_id: `rcpt_${'0'.repeat(32)}` })
    expect(textOf(result)).toContain('`list_lockers`')
    expect(textOf(result)).not.toContain('`buy`')
  })

  it('never shows the webhook secret to the model', async () => {
    const receipt_id = await newLocker()
    const tasks = { tell: { url: 'https://example.com/hook' }, watch: { every_hours: 6 } }
    const delegated = await server.ask('delegate', { receipt_id, tasks })
    const { delegation_id } = delegated.structuredContent as { delegation_id: string }
    const status = await server.ask('agent_status', { delegation_id })
    expect(JSON.stringify([delegated, status])).not.toContain('whsec_')
    expect(textOf(delegated)).toContain(`svc delegations ${delegation_id} --json`)
    await server.call('end_delegation', { delegation_id })
  })

  it('retries a failed registration or removal of the key when the call is repeated', async () => {
    const receipt_id = await newLocker()
    const refused = { status: 409, body: { error: 'OPERATOR_LIMIT_EXCEEDED', message: 'too many', request_id: 'r' } }
    market.proxy.plan(/operators/, { answer: refused })
    expect(codeOf(await server.ask('delegate', { receipt_id }))).toBe('OPERATOR_LIMIT_EXCEEDED')
    const { delegation_id } = await server.call('delegate', { receipt_id })
    market.proxy.plan(/operators/, { answer: refused })
    expect(codeOf(await server.ask('end_delegation', { delegation_id }))).toBe('OPERATOR_LIMIT_EXCEEDED')
    expect(await server.call('end_delegation', { delegation_id })).toMatchObject({ status: 'ended' })
  })

  it('rejects an altered log', async () => {
    const receipt_id = await newLocker()
    const { delegation_id } = await server.call('delegate', { receipt_id })
    await market.work()
    await market.work(60)
    market.agentProxy.always(/delegations\/dlg/, {
      lie: (body: { log: object[] }) => ({ ...body, log: body.log.map((one) => ({ ...one, kind: 'file_gone' })) }),
    })
    expect(codeOf(await server.ask('agent_status', { delegation_id }))).toBe('untrue_answer')
  })

  it.each([
    ['delegate', { receipt_id: 'rcpt_1' }],
    ['delegate', { receipt_id: `rcpt_${'0'.repeat(32)}`, tasks: { mirror: { sources: [] } } }],
    ['delegate', { receipt_id: `rcpt_${'0'.repeat(32)}`, tasks: { tell: { url: 'http://plain.example' } } }],
    ['agent_status', { delegation_id: '../..' }],
    ['end_delegation', {}],
  ])('rejects a call of %s with %j as bad arguments', async (name, input) => {
    expect(codeOf(await server.ask(name, input))).toBe('bad_arguments')
  })
})
