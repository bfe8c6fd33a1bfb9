import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Discovery } from '@svc/api/info'
import { type Fault, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import type { Variables } from '@svc/http-service/config'
import { startTestAgent } from '@svc/testbed/agent'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Agent } from '../../src/agent.ts'
import { type Agency, openAgency } from '../agency.ts'
import { expectError, tillOf } from '../subscribers.ts'

let agency: Agency
let agent: Agent
beforeAll(async () => {
  agency = await openAgency()
})
afterAll(() => agency.close())

/** One that knows nothing of the gateway yet. */
async function open(variables: Variables = {}): Promise<Agent> {
  const settings = { ...agency.chains.agentVariables, GATEWAY_URL: agency.between.url, ...variables }
  const opened = await startTestAgent(settings, { now: agency.clock.now })
  onTestFinished(() => opened.stop())
  return opened
}

const DISCOVERY = /svc\.json/
const TEN_MINUTES = 600
const FAILING: Fault = { answer: { status: 500, body: { error: 'internal_error', message: 'x' } } }
const ask = (of = agent) => tillOf(of).ask()
const timesAsked = () => agency.between.seen.filter(({ path }) => DISCOVERY.test(path)).length

/** Takes requests and never says anything. */
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

describe('the gateway, asked where it is paid', () => {
  beforeEach(async () => {
    agent = await open()
  })
  afterEach(() => agency.between.behave())

  it('AGENT-02 is asked before the first quote, then every ten minutes, and once for many at once', async () => {
    const before = timesAsked()
    expect((await Promise.all([ask(), ask(), ask(), ask()])).map(({ status }) => status)).toEqual([402, 402, 402, 402])
    expect(timesAsked()).toBe(before + 1)
    agency.clock.advance(TEN_MINUTES - 1)
    await ask()
    expect(timesAsked()).toBe(before + 1)
    agency.clock.advance(1)
    await ask()
    expect(timesAsked()).toBe(before + 2)
  })

  it('AGENT-02 what was found holds for ten minutes, also when it is away meanwhile', async () => {
    await ask()
    agency.between.always(DISCOVERY, FAILING)
    agency.clock.advance(TEN_MINUTES - 1)
    expect((await ask()).status).toBe(402)
    agency.clock.advance(1)
    expectError(await ask(), 503, 'gateway_unavailable')
  })

  it('AGENT-01 its health is looked at every ten seconds at the most', async () => {
    await gatewayState()
    const before = timesAsked()
    agency.clock.advance(9)
    expect(await gatewayState()).toEqual([200, 'ok'])
    expect(timesAsked()).toBe(before)
    agency.clock.advance(1)
    await Promise.all([gatewayState(), gatewayState(), gatewayState()])
    expect(timesAsked()).toBe(before + 1)
  })
})

describe('a gateway that gives no good answer', () => {
  const faults: Fault[] = [
    { cut: 'request' },
    { cut: 20 },
    FAILING,
    { answer: { status: 503, headers: { 'retry-after': '60' }, body: 'later' } },
    { answer: { status: 200, body: { hello: 'world' } } },
    { answer: { status: 200, body: '<html>' } },
  ]

  it('AGENT-02 keeps quotes from being made, until it is back', async () => {
    const expectUnavailable = async (fault: Fault) => {
      const between = await startFaultyProxy(agency.gateway.url)
      onTestFinished(() => between.stop())
      const served = await open({ GATEWAY_URL: between.url })
      between.always(DISCOVERY, fault)
      const [reply, state] = await Promise.all([ask(served), gatewayState(served)])
      expectError(reply, 503, 'gateway_unavailable')
      expect(reply.headers.get('retry-after')).toBe('5')
      expect(state).toEqual([200, 'failing'])
      between.behave()
      expect((await ask(served)).status).toBe(402)
      expect(await gatewayState(served)).toEqual([200, 'ok'])
    }
    const expectNoWait = async () => {
      const served = await open({ GATEWAY_URL: await startHanging() })
      const [reply, state] = await Promise.all([ask(served), gatewayState(served)])
      expectError(reply, 503, 'gateway_unavailable')
      expect(state).toEqual([200, 'failing'])
    }
    // At once, because each takes as long as a quote may be waited for.
    await Promise.all([...faults.map(expectUnavailable), expectNoWait()])
  })
})

describe('T-01 a treasury that the gateway has, too', () => {
  it.each(['PRIMARY_TREASURY', 'EVM_TREASURY'])('%s: nothing is sold, and health shows it', async (variable) => {
    agent = await open({ [variable]: agency.chains.variables[variable] })
    const reply = await ask()
    expectError(reply, 503, 'chain_unavailable')
    expect(JSON.stringify(reply.body)).not.toContain(agency.chains.variables[variable])
    expect(await gatewayState()).toEqual([200, 'failing'])
  })

  it('is the same on the EVM chain in whatever case it is written', async () => {
    agent = await open({ EVM_TREASURY: agency.chains.variables.EVM_TREASURY?.toLowerCase() })
    expectError(await ask(), 503, 'chain_unavailable')
  })

  it('also when the gateway has it only later: then as soon as anything notices', async () => {
    agent = await open()
    expect((await ask()).status).toBe(402)
    const shared = agency.chains.agentVariables.PRIMARY_TREASURY
    agency.between.always(DISCOVERY, {
      lie: (body: Discovery) => {
        const [primary, ...others] = body.payment.networks
        return { ...body, payment: { ...body.payment, networks: [{ ...primary, treasury: shared }, ...others] } }
      },
    })
    agency.clock.advance(10)
    expect(await gatewayState()).toEqual([200, 'failing'])
    expectError(await ask(), 503, 'chain_unavailable')
    agency.between.behave()
    expect((await ask()).status).toBe(402)
  })
})
