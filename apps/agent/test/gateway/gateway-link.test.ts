import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Discovery } from '@svc/api/info'
import { type Fault, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { startTestAgent } from '@svc/devnet/services/agent'
import type { Variables } from '@svc/service/program/config'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Agent } from '../../src/agent.ts'
import { useAgentStack } from '../agent-stack.ts'
import { expectError, subscriptionApi } from '../subscription-api.ts'

const stack = useAgentStack()
let agent: Agent

/** An agent that has not contacted the gateway yet. */
async function open(variables: Variables = {}): Promise<Agent> {
  const settings = { ...stack.chains.agentVariables, GATEWAY_URL: stack.proxy.url, ...variables }
  const opened = await startTestAgent(settings, { now: stack.clock.now })
  onTestFinished(() => opened.stop())
  return opened
}

const DISCOVERY = /svc\.json/
const TEN_MINUTES = 600
const FAILING: Fault = { answer: { status: 500, body: { error: 'internal_error', message: 'x' } } }
const ask = (of = agent) => subscriptionApi(() => of).requestQuote()
const countReads = () => stack.proxy.seen.filter(({ path }) => DISCOVERY.test(path)).length

/** Accepts requests and never responds. */
async function startHanging(): Promise<string> {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function gatewayState(of = agent) {
  const response = await fetch(`${of.url}/health`)
  const { checks } = (await response.json()) as { checks: { gateway: string } }
  return [response.status, checks.gateway]
}

describe('the treasuries of the gateway', () => {
  beforeEach(async () => {
    agent = await open()
  })
  afterEach(() => stack.proxy.behave())

  it('AGENT-02 are read before the first quote and every ten minutes, once for concurrent requests', async () => {
    const before = countReads()
    expect((await Promise.all([ask(), ask(), ask(), ask()])).map(({ status }) => status)).toEqual([402, 402, 402, 402])
    expect(countReads()).toBe(before + 1)
    stack.clock.advance(TEN_MINUTES - 1)
    await ask()
    expect(countReads()).toBe(before + 1)
    stack.clock.advance(1)
    await ask()
    expect(countReads()).toBe(before + 2)
    // They are trusted until then, even while the gateway fails.
    stack.proxy.always(DISCOVERY, FAILING)
    stack.clock.advance(TEN_MINUTES - 1)
    expect((await ask()).status).toBe(402)
    stack.clock.advance(1)
    expectError(await ask(), 503, 'gateway_unavailable')
  })

  it('AGENT-01 are read at most every ten seconds for health checks', async () => {
    await gatewayState()
    const before = countReads()
    stack.clock.advance(9)
    expect(await gatewayState()).toEqual([200, 'ok'])
    expect(countReads()).toBe(before)
    stack.clock.advance(1)
    await Promise.all([gatewayState(), gatewayState(), gatewayState()])
    expect(countReads()).toBe(before + 1)
  })
})

describe('a failing gateway', () => {
  const faults: Fault[] = [
    { cut: 'request' },
    { cut: 20 },
    FAILING,
    { answer: { status: 503, headers: { 'retry-after': '60' }, body: 'later' } },
    { answer: { status: 200, body: { hello: 'world' } } },
    { answer: { status: 200, body: '<html>' } },
  ]

  it('AGENT-02 prevents quotes until it responds again', { tags: ['nightly'] }, async () => {
    const expectUnavailable = async (fault: Fault) => {
      const proxy = await startFaultyProxy(stack.gateway.url)
      onTestFinished(() => proxy.stop())
      const served = await open({ GATEWAY_URL: proxy.url })
      proxy.always(DISCOVERY, fault)
      const [reply, state] = await Promise.all([ask(served), gatewayState(served)])
      expectError(reply, 503, 'gateway_unavailable')
      expect(reply.headers.get('retry-after')).toBe('5')
      expect(state).toEqual([200, 'failing'])
      proxy.behave()
      expect((await ask(served)).status).toBe(402)
      expect(await gatewayState(served)).toEqual([200, 'ok'])
    }
    const expectNoWait = async () => {
      const served = await open({ GATEWAY_URL: await startHanging() })
      const [reply, state] = await Promise.all([ask(served), gatewayState(served)])
      expectError(reply, 503, 'gateway_unavailable')
      expect(state).toEqual([200, 'failing'])
    }
    // Concurrently, because each takes as long as a quote may wait.
    await Promise.all([...faults.map(expectUnavailable), expectNoWait()])
  })
})

describe('T-01 a treasury that the gateway also uses', () => {
  it.each([
    ['PRIMARY_TREASURY', (address: string) => address],
    ['EVM_TREASURY', (address: string) => address.toLowerCase()],
  ])(
    'T-01 prevents sales and fails the health check when %s is shared, in any letter case',
    async (variable, spell) => {
      const shared = spell(`${stack.chains.variables[variable]}`)
      agent = await open({ [variable]: shared })
      const reply = await ask()
      expectError(reply, 503, 'chain_unavailable')
      expect(JSON.stringify(reply.body)).not.toContain(shared)
      expect(await gatewayState()).toEqual([200, 'failing'])
    },
  )

  it('T-01 stops sales as soon as the gateway switches to it', async () => {
    agent = await open()
    expect((await ask()).status).toBe(402)
    const shared = stack.chains.agentVariables.PRIMARY_TREASURY
    stack.proxy.always(DISCOVERY, {
      lie: (body: Discovery) => {
        const [primary, ...others] = body.payment.networks
        return { ...body, payment: { ...body.payment, networks: [{ ...primary, treasury: shared }, ...others] } }
      },
    })
    stack.clock.advance(10)
    expect(await gatewayState()).toEqual([200, 'failing'])
    expectError(await ask(), 503, 'chain_unavailable')
    stack.proxy.behave()
    expect((await ask()).status).toBe(402)
  })
})
