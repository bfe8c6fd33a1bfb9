import type { AgentHealth } from '@svc/api/agent/info'
import { ASSETS, pricesOf } from '@svc/api/assets'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { headOf } from '@svc/devnet/services/head-bytes'
import { paymentReference } from '@svc/protocol/ids'
import type { Variables } from '@svc/service/program/config'
import { expect, it, onTestFinished } from 'vitest'
import { findPayRequest } from '../../src/subscriptions/store.ts'
import { startSecondAgent, useAgentStack } from '../agent-stack.ts'
import { expectError, legOf, payReqId, subscriptionApi } from '../subscription-api.ts'

const stack = useAgentStack(() => ({ BASE_URL: 'https://agent.example' }))
const api = subscriptionApi(() => stack.agent)

const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const CLOSED = 'http://127.0.0.1:9'

async function startOther(variables: Variables) {
  const agent = await startSecondAgent(stack, variables)
  onTestFinished(() => agent.stop())
  return agent
}

it('AGENT-01 AGENT-02 a quote is a 402 with everything a subscriber needs to pay', async () => {
  const { status, headers, body } = await api.requestQuote()
  expect(status).toBe(402)
  expect(headers.get('cache-control')).toBe('no-store')
  const id = payReqId(body)
  expect(id).toMatch(/^pr_[0-9a-f]{32}$/)
  const confirm_url = 'https://agent.example/v1/service/confirm'
  const expires_at = '2026-09-01T12:05:00Z'
  const { extensions, ...payment } = body
  expect(payment).toEqual({
    x402Version: 2,
    resource: expect.objectContaining({ url: 'https://agent.example/v1/service/request' }),
    accepts: expect.any(Array),
    error: expect.any(String),
  })
  expect(extensions.svc).toEqual({
    terms: { subscription_days: 30, quote_expires_at: expires_at, environment: 'development' },
    instructions: expect.objectContaining({ confirm_url }),
    price_summary: { total_usd: 5, subscription_days: 30 },
    payment_reference: paymentReference(id),
    legacy: expect.objectContaining({ pay_req_id: id, pay_asset: 'SOL' }),
    info: { flow: 'pay-then-confirm', confirm_url, confirm_header: 'X402-TX', pay_req_id: id, expires_at },
    schema: expect.objectContaining({ type: 'object' }),
  })
  const { steps, cli_example } = extensions.svc.instructions
  const mentions = ['do not send real funds', paymentReference(id), 'X-Svc-Identity', '/v1/delegate']
  for (const [i, text] of mentions.entries()) expect(steps[i]).toContain(text)
  expect(cli_example).toMatch(new RegExp(`${paymentReference(id)}.*X-Svc-Identity`))
})

it('AGENT-01 AGENT-04 a quote offers legs on both chains, payable to the treasuries of this service', async () => {
  const quote = await api.quote()
  const names = quote.accepts.map(({ network, extra }) => `${network === PRIMARY ? 'primary' : network} ${extra.name}`)
  expect(names).toEqual(
    ASSETS.map(({ network, ticker }) => `${network.caip2 === PRIMARY ? 'primary' : network.caip2} ${ticker}`),
  )
  const { PRIMARY_TREASURY, EVM_TREASURY } = stack.chains.agentVariables
  expect(legOf(quote, 'SOL')).toMatchObject({ scheme: 'exact', payTo: PRIMARY_TREASURY, amount: '33277871' })
  expect(legOf(quote, 'USDC', 'evm-mainnet')).toMatchObject({ payTo: EVM_TREASURY, amount: '5000000' })
  expect(legOf(quote, 'BETA').amount).toBe('1')
  const { body: storage } = await asGateway()
  const theirs = storage.accepts.map(({ payTo }) => payTo)
  for (const { payTo } of quote.accepts) expect(theirs).not.toContain(payTo)
})

async function asGateway(): Promise<{ body: { accepts: { payTo: string }[] } }> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }
  return { body: await (await fetch(`${stack.gateway.url}/v1/storage/request`, init)).json() }
}

const LONGEST_HOST = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`

it('AGENT-02 ADD-01 a quote of every leg has a head below 4 kB', async () => {
  const agent = await startOther({ BASE_URL: `https://${LONGEST_HOST}`, SUBSCRIPTION_USD: '9999999.99' })
  expect((await subscriptionApi(() => agent).quote()).accepts).toHaveLength(ASSETS.length)
  for (const accepted of [{}, { 'accept-payment': 'solana/charge' }, { 'accept-payment': 'evm/charge' }]) {
    const headers = { origin: 'https://page.example', ...accepted }
    const head = await headOf(`${agent.url}/v1/service/request`, { headers })
    expect(head.status).toBe(402)
    expect(head.headers.get('payment-required')).toBeTruthy()
    expect(head.headers.get('www-authenticate')).toBeTruthy()
    expect(head.bytes).toBeLessThan(4096)
  }
})

it('AGENT-02 STATE-01 a quote is stored exactly as it is returned', async () => {
  const response = await fetch(`${stack.agent.url}/v1/service/request`)
  const text = await response.text()
  const stored = await findPayRequest(stack.agent.context.database.db, payReqId(JSON.parse(text)))
  expect(stored).toMatchObject({ quote: text, created_at: 1_788_264_000, expires_at: 1_788_264_300 })
})

it('AGENT-02 PAY-04 a request for a network or asset gets only the matching legs', async () => {
  const names = async (choice: Record<string, string>) =>
    (await api.quote(choice)).accepts.map(({ network, extra }) => [network, extra.name])
  expect(await names({ pay_asset: 'usdc' })).toEqual([
    [PRIMARY, 'USDC'],
    ['eip155:143', 'USDC'],
  ])
  expect(await names({ pay_network: 'evm-mainnet', pay_asset: 'MON' })).toEqual([['eip155:143', 'MON']])
  for (const [network] of await names({ pay_network: PRIMARY })) expect(network).toBe(PRIMARY)
})

it('AGENT-01 the configured price and lifetime are quoted', async () => {
  const expensive = await startOther({ SUBSCRIPTION_USD: '12.50', QUOTE_TTL_SECONDS: '60' })
  const quote = await subscriptionApi(() => expensive).quote({ pay_asset: 'USDC' })
  expect(quote.accepts.map(({ amount }) => amount)).toEqual(['12500000', '12500000'])
  expect(quote.extensions.svc).toMatchObject({
    price_summary: { total_usd: 12.5 },
    info: { expires_at: '2026-09-01T12:01:00Z' },
  })
})

it('ADD-10 a quote in production does not mention development', async () => {
  const agent = await startOther({
    SVC_MODE: 'production',
    BASE_URL: 'https://agent.example',
    DATABASE_URL: '',
    AGENT_KEY: '01'.repeat(32),
    DELEGATION_KEY: '02'.repeat(32),
    PRIMARY_TREASURY: 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe',
    EVM_TREASURY: `0x${'ab'.repeat(20)}`,
  })
  expect(JSON.stringify(await subscriptionApi(() => agent).quote())).not.toMatch(/development/i)
})

it('T-22 a quote omits coins without a price and tokens with other decimals, and /health reports them', async () => {
  const wrong = { ORACLE_URL: CLOSED, TOKENS: `${stack.chains.agentVariables.TOKENS},evm.USDT0=${TOKENS.WETH.address}` }
  const careful = await startOther(wrong)
  const { accepts } = await subscriptionApi(() => careful).quote()
  const remaining = ASSETS.filter(({ ticker, pricing }) => pricing.by !== 'oracle' && ticker !== 'USDT0')
  expect(accepts.map(({ extra }) => extra.name)).toEqual(remaining.map(({ ticker }) => ticker))
  const health = (await (await fetch(`${careful.url}/health`)).json()) as { warnings: string[] }
  expect(health.warnings).toHaveLength(pricesOf(ASSETS).length + 1)
  expect(health.warnings.join()).toMatch(/no price of ETH .*USDT0 .* must have 6 decimals, but the chain reports 18/)
})

it('PAY-19 VER-20 /health names a treasury without token accounts', async () => {
  const withoutAccounts = await startOther({
    PRIMARY_TREASURY: 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8',
    TOKENS: (stack.chains.agentVariables.TOKENS ?? '').replace(/primary\.BETA=[^,]+,?/, ''),
  })
  const health = (await (await fetch(`${withoutAccounts.url}/health`)).json()) as AgentHealth
  expect(health.not_offered?.map(({ reason }) => reason)).toEqual([
    ...Array<string>(3).fill('token_account_missing'),
    'asset_not_configured',
  ])
  expect(health.warnings).toHaveLength(3)
})

it('AGENT-02 a request for a quote answers 503 when no chain is configured', async () => {
  const nowhere = { PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '', EVM_RPC_URLS: '', EVM_TREASURY: '' }
  const agent = await startOther(nowhere)
  expectError(await subscriptionApi(() => agent).requestQuote(), 503, 'chain_unavailable')
})
