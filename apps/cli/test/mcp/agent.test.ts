// The tools for subscriptions and delegations.

import { join } from 'node:path'
import { type AgentMarket, openAgentMarket } from '@svc/sdk/test/agents'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { codeOf, type TestServer, textOf } from './client.ts'
import { type Chain, useShop } from './shop.ts'

let market: AgentMarket
const shop = useShop(async () => {
  market = await openAgentMarket()
  return market
})
beforeEach(() => market.agentProxy.behave())

let count = 0
/** A server that has spent nothing yet. */
const start = (chain: Chain | null, variables = {}) =>
  shop.start('memory', chain, {
    SVC_GATEWAY: market.proxy.url,
    SVC_AGENT: market.agentProxy.url,
    SVC_MCP_MAX_USD: '5',
    SVC_MCP_MAX_USD_PER_DAY: '20',
    SVC_MCP_STATE: join(shop.desk.folder, `state-${++count}`),
    ...variables,
  })

describe('subscribe', () => {
  it('AGENT-01 AGENT-02 shows the price for free, pays once, and returns the same purchase when called again', async () => {
    const server = await start('solana', { SVC_WALLET: (await shop.variables('solana', 1)).SVC_WALLET })
    const status = await server.ask('agent_status')
    expect(status.structuredContent).toMatchObject({
      subscription: null,
      thirty_days_cost: expect.arrayContaining([expect.objectContaining({ asset: 'USDC', amount: '5' })]),
    })
    expect(textOf(status)).toContain('ask the user')
    const { receipt_id } = await market.locker(market.solana(1).signer)
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
    const { purchases } = await server.call('purchase_status')
    expect(purchases).toMatchObject([{ intent, of: 'subscription', usd: '5.00' }])
  })

  it('adds thirty days for another intent; storage and subscriptions share the daily limit', async () => {
    const limited = await start('solana', { SVC_MCP_MAX_USD_PER_DAY: '10' })
    const [a, b] = [await limited.call('subscribe', { intent: 'a' }), await limited.call('subscribe', { intent: 'b' })]
    expect(Date.parse(String(b.expires_at)) - Date.parse(String(a.expires_at))).toBe(30 * 86_400_000)
    expect(codeOf(await limited.ask('subscribe', { intent: 'c' }))).toBe('over_day_limit')
    expect(codeOf(await limited.ask('buy', { units: 1, intent: 'a' }))).toBe('over_day_limit')
  })

  it('pays nothing above the purchase limit, without a wallet or without an agent service', async () => {
    const before = await market.agentTreasury('USDC')
    const subscribe = async (chain: Chain | null, variables = {}) => (await start(chain, variables)).ask('subscribe')
    const poor = await subscribe('solana', { SVC_MCP_MAX_USD: '1' })
    expect([codeOf(poor), textOf(poor)]).toEqual([
      'over_purchase_limit',
      expect.stringMatching(/SVC_MCP_MAX_USD to 5\.00 or more/),
    ])
    const poorDay = await subscribe('solana', { SVC_MCP_MAX_USD_PER_DAY: '4' })
    expect(textOf(poorDay)).toMatch(/over_day_limit.*SVC_MCP_MAX_USD_PER_DAY to 5\.00 or more/)
    expect(codeOf(await subscribe(null))).toBe('no_wallet')
    const alone = { SVC_GATEWAY: 'https://gateway.example', SVC_AGENT: '' }
    expect(codeOf(await subscribe('solana', alone))).toBe('no_agent')
    expect(await market.agentTreasury('USDC')).toBe(before)
  })
})

describe('delegate', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await start('solana')
    await server.call('subscribe')
  })

  it('AGENT-04 gives the agent access, reports its findings, and ends the delegation', async () => {
    const receipt_id = await shop.locker()
    const { delegation_id, agent_pubkey, tasks } = await server.call('delegate', { receipt_id })
    expect(tasks).toMatchObject({ watch: { every_hours: 24 } })
    await market.work()
    await market.work(60)
    const { delegations, log } = await server.call('agent_status', { delegation_id })
    expect(delegations).toMatchObject([{ delegation_id, receipt_id, status: 'active', agent_pubkey, alerts: 0 }])
    expect(log).toMatchObject([{ sequence: 1, kind: 'baseline' }])
    market.agentProxy.plan(/delegations\/dlg/, {
      lie: (body: { log: object[] }) => ({ ...body, log: body.log.map((one) => ({ ...one, kind: 'file_gone' })) }),
    })
    expect(codeOf(await server.ask('agent_status', { delegation_id }))).toBe('untrue_answer')
    expect(await server.call('end_delegation', { delegation_id })).toMatchObject({ receipt_id, status: 'ended' })
  })

  it('T-197 suggests list_lockers if the receipt is unknown', async () => {
    const result = await server.ask('delegate', { receipt_id: `rcpt_${'0'.repeat(32)}` })
    expect(textOf(result)).toContain('`list_lockers`')
    expect(textOf(result)).not.toContain('`buy`')
  })

  it('never shows the webhook secret to the model', async () => {
    const tasks = { tell: { url: 'https://example.com/hook' }, watch: { every_hours: 6 } }
    const delegated = await server.ask('delegate', { receipt_id: await shop.locker(), tasks })
    const { delegation_id } = delegated.structuredContent as { delegation_id: string }
    const status = await server.ask('agent_status', { delegation_id })
    expect(JSON.stringify([delegated, status])).not.toContain('whsec_')
    expect(textOf(delegated)).toContain(`svc delegations ${delegation_id} --json`)
  })

  it('retries a failed registration or removal of the key when the call is repeated', async () => {
    const receipt_id = await shop.locker()
    const code = 'OPERATOR_LIMIT_EXCEEDED'
    const refuse = () =>
      market.proxy.plan(/operators/, {
        answer: { status: 409, body: { error: code, message: 'too many', request_id: 'r' } },
      })
    refuse()
    expect(codeOf(await server.ask('delegate', { receipt_id }))).toBe(code)
    const { delegation_id } = await server.call('delegate', { receipt_id })
    refuse()
    expect(codeOf(await server.ask('end_delegation', { delegation_id }))).toBe(code)
    expect(await server.call('end_delegation', { delegation_id })).toMatchObject({ status: 'ended' })
  })
})
