import { startTestAgent } from '@svc/testbed/agent'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { findPayRequest } from '../../src/subscriptions/store.ts'
import { type Agency, openAgency } from '../agent-stack.ts'
import { expectError, legOf, payReqId, startSecondAgent, type Till, tillOf } from '../subscription-api.ts'

let agency: Agency
let till: Till
beforeAll(async () => {
  agency = await openAgency({ BASE_URL: 'https://agent.example' })
  till = tillOf(agency.agent)
})
afterAll(() => agency.close())

const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const CLOSED = 'http://127.0.0.1:9'

it('AGENT-01 AGENT-02 SHAPE-43 a quote is a 402 with everything a subscriber needs', async () => {
  const { status, headers, body } = await till.ask()
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
            expect.stringContaining(id),
            expect.stringMatching(/X402-TX.*X-Svc-Identity/),
            expect.stringContaining('/v1/delegate'),
          ],
          confirm_url: 'https://agent.example/v1/service/confirm',
          cli_example: expect.stringMatching(new RegExp(`${id}.*X-Svc-Identity`)),
        },
        price_summary: { total_usd: 5, subscription_days: 30 },
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

it('AGENT-01 SHAPE-43 it can be paid on both chains, to the treasuries of this service, for what thirty days cost', async () => {
  const quote = await till.quote()
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
  const { PRIMARY_TREASURY, EVM_TREASURY } = agency.chains.agentVariables
  expect(legOf(quote, 'SOL')).toMatchObject({ scheme: 'exact', payTo: PRIMARY_TREASURY, amount: '33277871' })
  expect(legOf(quote, 'USDC', 'evm-mainnet')).toMatchObject({ payTo: EVM_TREASURY, amount: '5000000' })
  expect(legOf(quote, 'BETA').amount).toBe('1')
  const { body: storage } = await asGateway()
  const theirs = storage.accepts.map(({ payTo }) => payTo)
  for (const { payTo } of quote.accepts) expect(theirs).not.toContain(payTo)
})

async function asGateway(): Promise<{ body: { accepts: { payTo: string }[] } }> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }
  return { body: await (await fetch(`${agency.gateway.url}/v1/storage/request`, init)).json() }
}

it('AGENT-02 ADD-01 stock clients find the legs in PAYMENT-REQUIRED', async () => {
  const { headers, body } = await till.ask()
  const header = JSON.parse(Buffer.from(headers.get('payment-required')!, 'base64').toString())
  const { x402Version, resource, accepts, extensions } = body
  expect(header).toEqual({ x402Version, resource, accepts, extensions: { svc: { info: extensions.svc.info } } })
})

it('AGENT-02 STATE-01 it is stored before it is answered, to the letter', async () => {
  const response = await fetch(`${agency.agent.url}/v1/service/request`)
  const text = await response.text()
  const stored = await findPayRequest(agency.agent.context.database.db, payReqId(JSON.parse(text)))
  expect(stored).toMatchObject({ quote: text, created_at: 1_788_264_000, expires_at: 1_788_264_300 })
})

it('AGENT-02 AMB-08 whoever names network or asset gets the legs that fit', async () => {
  const names = async (choice: Record<string, string>) =>
    (await till.quote(choice)).accepts.map(({ network, extra }) => [network, extra.name])
  expect(await names({ pay_asset: 'usdc' })).toEqual([
    [PRIMARY, 'USDC'],
    ['eip155:143', 'USDC'],
  ])
  expect(await names({ pay_network: 'evm-mainnet', pay_asset: 'MON' })).toEqual([['eip155:143', 'MON']])
  expect(await names({ pay_network: PRIMARY })).toHaveLength(5)
})

it('AGENT-02 whoever names what there is not is told so', async () => {
  expectError(await till.ask({ pay_asset: 'DOGE' }), 400, 'leg_not_in_quote')
  expectError(await till.ask({ pay_network: 'evm-mainnet', pay_asset: 'SOL' }), 400, 'leg_not_in_quote')
  const unknown = await till.ask({ pay_network: 'nowhere' })
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
])('AGENT-02 no question makes it fall over: %s', async (query) => {
  const { status } = await fetch(`${agency.agent.url}/v1/service/request?${query}`)
  expect(status).toBeOneOf([400, 402, 422])
})

it('AGENT-01 another price is quoted as another price', async () => {
  const dear = await startSecondAgent(agency, { SUBSCRIPTION_USD: '12.50', QUOTE_TTL_SECONDS: '60' })
  onTestFinished(() => dear.stop())
  const quote = await tillOf(dear).quote({ pay_asset: 'USDC' })
  expect(quote.accepts.map(({ amount }) => amount)).toEqual(['12500000', '12500000'])
  expect(quote.extensions.svc).toMatchObject({
    price_summary: { total_usd: 12.5 },
    info: { expires_at: '2026-09-01T12:01:00Z' },
  })
})

it('ADD-10 in production nothing is said of development', async () => {
  const key = (byte: string) => byte.repeat(32)
  const agent = await startTestAgent(
    {
      ...agency.chains.agentVariables,
      SVC_MODE: 'production',
      BASE_URL: 'https://agent.example',
      GATEWAY_URL: agency.between.url,
      AGENT_KEY: key('01'),
      DELEGATION_KEY: key('02'),
      PRIMARY_TREASURY: 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe',
      EVM_TREASURY: `0x${'ab'.repeat(20)}`,
    },
    { now: agency.clock.now },
  )
  onTestFinished(() => agent.stop())
  const { status, body } = await tillOf(agent).ask()
  expect(status).toBe(402)
  expect(JSON.stringify(body)).not.toMatch(/development/i)
})

it('AGENT-02 AMB-10 while the primary chain cannot be asked, what needs no look at it is offered', async () => {
  const blind = await startSecondAgent(agency, { PRIMARY_RPC_URLS: CLOSED })
  onTestFinished(() => blind.stop())
  const { accepts } = await tillOf(blind).quote()
  expect(accepts.map(({ extra }) => extra.name)).toEqual(['SOL', 'MON', 'USDC', 'USDT0', 'WETH'])
})

it('AGENT-02 with no chain to be paid on, it is a 503', async () => {
  const nowhere = { PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '', EVM_RPC_URLS: '', EVM_TREASURY: '' }
  const agent = await startSecondAgent(agency, nowhere)
  onTestFinished(() => agent.stop())
  expectError(await tillOf(agent).ask(), 503, 'chain_unavailable')
})

it('T-10 strangers get so many quotes a minute', async () => {
  const limited = await startSecondAgent(agency, { RATE_LIMIT_ADDRESS: '3' })
  onTestFinished(() => limited.stop())
  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push((await tillOf(limited).ask()).status)
  expect(statuses).toEqual([402, 402, 402, 429, 429])
})
