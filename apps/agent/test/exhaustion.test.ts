import { agentEndpoints } from '@svc/api/agent/agent'
import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { type FaultyNode, startFaultyNode } from '@svc/devnet/faulty-node'
import { startTestAgent } from '@svc/devnet/services/agent'
import { type AnonymousRequest, flood, openEndpoints } from '@svc/devnet/services/flood'
import { countRows } from '@svc/devnet/table-names'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../src/agent.ts'
import { useAgentStack } from './agent-stack.ts'

/** The limit for requests of an address per minute, and the number of requests that it sends. */
const PER_MINUTE = 4
const TIMES = 10

interface Bound {
  request(quote: SubscriptionQuote): AnonymousRequest
  isLimited: boolean
  /** The expected status of each response; 200 by default. */
  status?: number
  /** Rows that one accepted request may add, by table. */
  rows?: Readonly<Record<string, number>>
  /** Calls to nodes of the chains that it may cause. */
  calls?: number
}

const free = (path: string): Bound => ({ isLimited: false, request: () => ({ path }) })
const ofQuote = (path: string, more: (quote: SubscriptionQuote) => object, calls = 0): Bound => ({
  isLimited: true,
  calls,
  request: (quote) => ({
    method: 'POST',
    path,
    headers: { 'x-svc-identity': ADDRESS },
    body: { pay_req_id: quote.extensions.svc.info.pay_req_id, ...more(quote) },
  }),
})

const UNKNOWN_TX = `0x${'12'.repeat(32)}`
const ADDRESS = `0x${'ab'.repeat(20)}`
const READING = 6

/** By the name of the endpoint. */
const BOUNDS: Readonly<Record<string, Bound>> = {
  agentHealth: { ...free('/health'), calls: 1 },
  agentDiscovery: free('/.well-known/svc-agent.json'),
  agentOpenApi: free('/openapi.json'),
  agentErrorList: free('/errors'),
  agentErrorExplained: free('/errors/RATE_LIMITED'),
  requestSubscription: {
    isLimited: true,
    status: 402,
    rows: { pay_requests: 1 },
    request: () => ({ path: '/v1/service/request' }),
  },
  confirmSubscription: {
    ...ofQuote(
      '/v1/service/confirm',
      () => ({ tx_sig: UNKNOWN_TX, pay_network: 'evm-mainnet', pay_asset: 'USDC' }),
      READING,
    ),
    status: 402,
  },
  prepareSubscriptionPayment: ofQuote(
    '/v1/service/payment/prepare',
    ({ accepts: [leg] }) => ({ network: leg!.network, asset: leg!.asset }),
    READING,
  ),
  sendSubscriptionPayment: {
    ...ofQuote('/v1/service/payment/send', () => ({ transaction: 'A'.repeat(4000) })),
    status: 400,
  },
  subscriptionPaymentOutcome: ofQuote(
    '/v1/service/payment/outcome',
    () => ({ tx: UNKNOWN_TX, payer: ADDRESS, life: { nonce: '1', block: '1' } }),
    READING,
  ),
  findSubscriptionPayment: ofQuote('/v1/service/payment/find', () => ({}), READING),
}

describe('endpoints of an agent service without authentication', () => {
  const stack = useAgentStack()
  let agent: Agent
  let nodes: FaultyNode[]
  let quote: SubscriptionQuote
  beforeAll(async () => {
    nodes = await Promise.all([startFaultyNode(stack.chains.primary.url), startFaultyNode(stack.chains.evm.url)])
    const settings = {
      ...stack.chains.agentVariables,
      GATEWAY_URL: stack.gateway.url,
      PRIMARY_RPC_URLS: nodes[0]!.url,
      EVM_RPC_URLS: nodes[1]!.url,
      TRUSTED_PROXIES: '127.0.0.1,::1',
      RATE_LIMITS: `address=${PER_MINUTE}/min`,
    }
    agent = await startTestAgent(settings, { now: stack.clock.now })
    quote = (await (await fetch(`${agent.url}/v1/service/request`)).json()) as SubscriptionQuote
  })
  afterAll(() => Promise.all([agent, ...nodes].map((one) => one.stop())))

  const rowCounts = () => countRows(agent.context.database.db as Kysely<unknown>)
  const callCount = () => nodes.reduce((sum, { calls }) => sum + calls.length, 0)

  it('T-140 every such endpoint has a tested bound', () => {
    expect(Object.keys(BOUNDS).sort()).toEqual(
      openEndpoints(agentEndpoints)
        .map(({ name }) => name)
        .sort(),
    )
  })

  it.each(Object.entries(BOUNDS))('T-140 %s withstands a flood and serves other addresses', async (name, bound) => {
    const from = `10.0.${Object.keys(BOUNDS).indexOf(name)}`
    const request = bound.request(quote)
    const [rows, calls] = [await rowCounts(), callCount()]
    const { served } = await flood(agent.url, request, { times: TIMES, address: `${from}.1` })
    expect(served).toEqual(Array(bound.isLimited ? PER_MINUTE : TIMES).fill(bound.status ?? 200))
    for (const [table, count] of Object.entries(await rowCounts())) {
      const each = table === 'rate_limits' ? 1 : (bound.rows?.[table] ?? 0)
      expect(count, table).toBeLessThanOrEqual((rows[table] ?? 0) + each * served.length)
    }
    expect(callCount() - calls).toBeLessThanOrEqual((bound.calls ?? 0) * served.length)
    const neighbour = await flood(agent.url, request, { times: 1, address: `${from}.2` })
    expect(neighbour.served).toEqual(served.slice(0, 1))
  })

  it('T-140 T-11 a delegation request is counted before its envelope and its body are read', async () => {
    const request = {
      method: 'POST',
      path: '/v1/delegate',
      headers: UNSIGNED,
      body: { receipt_id: 'r', locker_id: 'l' },
    }
    const flooded = await flood(agent.url, request, { times: TIMES, address: '10.1.0.1' })
    expect(flooded).toEqual({ served: Array(PER_MINUTE).fill(401), limited: TIMES - PER_MINUTE })
  })
})

/** Looks like an envelope, but is not one. */
const UNSIGNED = { 'x-svc-envelope': 'e30', 'x-svc-signature': '1' }
