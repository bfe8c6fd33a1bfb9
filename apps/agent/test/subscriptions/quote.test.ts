import type { PaymentLeg } from '@svc/api/quote'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { paymentReference } from '@svc/protocol/ids'
import { startTestAgent } from '@svc/testbed/agent'
import { headOf } from '@svc/testbed/head-bytes'
import { expect, it, onTestFinished } from 'vitest'
import { findPayRequest } from '../../src/subscriptions/store.ts'
import { startSecondAgent, useAgentStack } from '../agent-stack.ts'
import { expectError, legOf, payReqId, subscriptionApi } from '../subscription-api.ts'

const stack = useAgentStack(() => ({ BASE_URL: 'https://agent.example' }))
const api = subscriptionApi(() => stack.agent)

const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const CLOSED = 'http://127.0.0.1:9'

it('AGENT-01 AGENT-02 AMB-46 SHAPE-43 a quote is a 402 with everything a subscriber needs to pay', async () => {
  const { status, headers, body } = await api.requestQuote()
  expect(status).toBe(402)
  expect(headers.get('cache-control')).toBe('no-store')
  const id = payReqId(body)
  expect(id).toMatch(/^pr_[0-9a-f]{32}$/)
  expect(body).toEqual({
    x402Version: 2,
    resource: {
      url: 'https://agent.example/v1/service/request',
      description: expect.stringContaining('30 days'),
      mimeType: 'application/json',
    },
    accepts: expect.any(Array),
    error: expect.any(String),
    extensions: {
      svc: {
        terms: { subscription_days: 30, quote_expires_at: '2026-09-01T12:05:00Z', environment: 'development' },
        instructions: {
          steps: [
            expect.stringContaining('do not send real funds'),
            expect.stringContaining(paymentReference(id)),
            expect.stringMatching(/X402-TX.*X-Svc-Identity/),
            expect.stringContaining('/v1/delegate'),
          ],
          confirm_url: 'https://agent.example/v1/service/confirm',
          cli_example: expect.stringMatching(new RegExp(`${paymentReference(id)}.*X-Svc-Identity`)),
        },
        price_summary: { total_usd: 5, subscription_days: 30 },
        payment_reference: paymentReference(id),
        legacy: expect.objectContaining({ pay_req_id: id, pay_asset: 'SOL' }),
        info: {
          flow: 'pay-then-confirm',
          confirm_url: 'https://agent.example/v1/service/confirm',
          confirm_header: 'X402-TX',
          pay_req_id: id,
          expires_at: '2026-09-01T12:05:00Z',
        },
        schema: expect.objectContaining({ type: 'object' }),
      },
    },
  })
})

it('AGENT-01 SHAPE-43 a quote offers legs on both chains, payable to the treasuries of this service', async () => {
  const quote = await api.quote()
  const names = quote.accepts.map(({ network, extra }) => `${network === PRIMARY ? 'primary' : network} ${extra.name}`)
  expect(names).toEqual([
    'primary SOL',
    'primary USDC',
    'primary USDT',
    'primary WETH',
    'primary BETA',
    'eip155:143 MON',
    'eip155:143 USDC',
    'eip155:143 USDT0',
    'eip155:143 WETH',
  ])
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

it('AGENT-02 ADD-01 a quote carries legs of both chains in the PAYMENT-REQUIRED header for x402 clients', async () => {
  const { headers, body } = await api.requestQuote()
  const { accepts, ...header } = JSON.parse(Buffer.from(headers.get('payment-required')!, 'base64').toString())
  const legs = [legOf(body, 'SOL'), legOf(body, 'USDC', 'evm-mainnet'), legOf(body, 'USDC')]
  const compact = ({ extra: { name, decimals, memo }, ...leg }: PaymentLeg) => ({
    ...leg,
    extra: { name, decimals, memo },
  })
  expect(accepts).toEqual(legs.map(compact))
  const { x402Version, resource, extensions } = body
  const svc = { info: extensions.svc.info, legs_left_out: 6 }
  expect(header).toEqual({ x402Version, resource: { url: resource.url }, extensions: { svc } })
})

it.each([
  'agent.example',
  'storage-agent.eu-central-1.production.company.example/storage/agent',
  `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`,
])('AGENT-02 ADD-01 a quote of every leg has a head below 4 kB at https://%s', async (host) => {
  const agent = await startSecondAgent(stack, { BASE_URL: `https://${host}`, SUBSCRIPTION_USD: '9999999.99' })
  onTestFinished(() => agent.stop())
  expect((await subscriptionApi(() => agent).quote()).accepts).toHaveLength(9)
  for (const accepted of [{}, { 'accept-payment': 'solana/charge' }, { 'accept-payment': 'evm/charge' }]) {
    const headers = { origin: 'https://page.example', ...accepted }
    const head = await headOf(`${agent.url}/v1/service/request`, { headers })
    expect(head.status).toBe(402)
    expect(head.headers.get('payment-required')).toBeTruthy()
    expect(head.headers.get('www-authenticate')).toBeTruthy()
    expect(head.bytes).toBeLessThan(4096)
  }
})

it('AGENT-02 STATE-01 a quote is stored exactly as it is answered', async () => {
  const response = await fetch(`${stack.agent.url}/v1/service/request`)
  const text = await response.text()
  const stored = await findPayRequest(stack.agent.context.database.db, payReqId(JSON.parse(text)))
  expect(stored).toMatchObject({ quote: text, created_at: 1_788_264_000, expires_at: 1_788_264_300 })
})

it('AGENT-02 AMB-08 a request for a network or asset gets only the matching legs', async () => {
  const names = async (choice: Record<string, string>) =>
    (await api.quote(choice)).accepts.map(({ network, extra }) => [network, extra.name])
  expect(await names({ pay_asset: 'usdc' })).toEqual([
    [PRIMARY, 'USDC'],
    ['eip155:143', 'USDC'],
  ])
  expect(await names({ pay_network: 'evm-mainnet', pay_asset: 'MON' })).toEqual([['eip155:143', 'MON']])
  expect(await names({ pay_network: PRIMARY })).toHaveLength(5)
})

it('AGENT-02 a request for an unknown network or asset is rejected', async () => {
  expectError(await api.requestQuote({ pay_asset: 'DOGE' }), 400, 'leg_not_in_quote')
  expectError(await api.requestQuote({ pay_network: 'evm-mainnet', pay_asset: 'SOL' }), 400, 'leg_not_in_quote')
  const unknown = await api.requestQuote({ pay_network: 'nowhere' })
  expectError(unknown, 422, 'validation_error')
  expect(unknown.body).toMatchObject({ detail: [{ loc: ['query', 'pay_network'] }] })
})

it.each([
  'pay_asset=SOL&pay_asset=USDC',
  'pay_network[]=x',
  'pay_asset=%00',
  'pay_asset=%ff',
  'pay_network=__proto__',
  `pay_asset=${'x'.repeat(10_000)}`,
  'pay_asset=',
])('AGENT-02 a malformed query never causes a server error: %s', async (query) => {
  const { status } = await fetch(`${stack.agent.url}/v1/service/request?${query}`)
  expect(status).toBeOneOf([400, 402, 422])
})

it('AGENT-01 the configured price and lifetime are quoted', async () => {
  const dear = await startSecondAgent(stack, { SUBSCRIPTION_USD: '12.50', QUOTE_TTL_SECONDS: '60' })
  onTestFinished(() => dear.stop())
  const quote = await subscriptionApi(() => dear).quote({ pay_asset: 'USDC' })
  expect(quote.accepts.map(({ amount }) => amount)).toEqual(['12500000', '12500000'])
  expect(quote.extensions.svc).toMatchObject({
    price_summary: { total_usd: 12.5 },
    info: { expires_at: '2026-09-01T12:01:00Z' },
  })
})

it('ADD-10 a quote in production does not mention development', async () => {
  const key = (byte: string) => byte.repeat(32)
  const agent = await startTestAgent(
    {
      ...stack.chains.agentVariables,
      SVC_MODE: 'production',
      BASE_URL: 'https://agent.example',
      GATEWAY_URL: stack.proxy.url,
      AGENT_KEY: key('01'),
      DELEGATION_KEY: key('02'),
      PRIMARY_TREASURY: 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe',
      EVM_TREASURY: `0x${'ab'.repeat(20)}`,
    },
    { now: stack.clock.now },
  )
  onTestFinished(() => agent.stop())
  const { status, body } = await subscriptionApi(() => agent).requestQuote()
  expect(status).toBe(402)
  expect(JSON.stringify(body)).not.toMatch(/development/i)
})

it('AGENT-02 AMB-10 a quote leaves out the legs that need a chain that cannot be reached', async () => {
  const blind = await startSecondAgent(stack, { PRIMARY_RPC_URLS: CLOSED })
  onTestFinished(() => blind.stop())
  const { accepts } = await subscriptionApi(() => blind).quote()
  expect(accepts.map(({ extra }) => extra.name)).toEqual(['SOL', 'MON', 'USDC', 'USDT0', 'WETH'])
})

it('T-39 a quote leaves out coins without a price and tokens with other decimals, and /health says so', async () => {
  const wrong = { ORACLE_URL: CLOSED, EVM_USDT0_CONTRACT: TOKENS.WETH.address }
  const careful = await startSecondAgent(stack, wrong)
  onTestFinished(() => careful.stop())
  const { accepts } = await subscriptionApi(() => careful).quote()
  expect(accepts.map(({ extra }) => extra.name)).toEqual(['USDC', 'USDT', 'BETA', 'USDC'])
  const health = (await (await fetch(`${careful.url}/health`)).json()) as { warnings: string[] }
  expect(health.warnings).toHaveLength(4)
  expect(health.warnings.join()).toMatch(/no price of ETH .*USDT0 .* must have 6 decimals, but the chain says 18/)
})

it('AGENT-02 a request for a quote answers 503 when no chain is configured', async () => {
  const nowhere = { PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '', EVM_RPC_URLS: '', EVM_TREASURY: '' }
  const agent = await startSecondAgent(stack, nowhere)
  onTestFinished(() => agent.stop())
  expectError(await subscriptionApi(() => agent).requestQuote(), 503, 'chain_unavailable')
})

it('T-10 limits quotes per address and minute', async () => {
  const limited = await startSecondAgent(stack, { RATE_LIMIT_ADDRESS: '3' })
  onTestFinished(() => limited.stop())
  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push((await subscriptionApi(() => limited).requestQuote()).status)
  expect(statuses).toEqual([402, 402, 402, 429, 429])
})
