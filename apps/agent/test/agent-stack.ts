// Starts both local chains, a gateway, an agent service, and a proxy between the two that can disturb their requests.
// The clock stands still until a test advances it.

import { randomBytes } from 'node:crypto'
import type { DelegateAnswer, Delegation, DelegationSummary } from '@svc/api/agent/delegations'
import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Tasks } from '@svc/api/agent/tasks'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { forAllTests } from '@svc/devnet/for-tests'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import { startTestAgent } from '@svc/devnet/services/agent'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker, seedReceipt } from '@svc/devnet/services/seed-lockers'
import { bytesOf, type Identity, type SignedCall, signCall } from '@svc/devnet/services/signing'
import { writable } from '@svc/devnet/writable'
import { type Client, createClient, type Locker, lockerOf } from '@svc/sdk'
import type { Variables } from '@svc/service/program/config'
import { expect } from 'vitest'
import type { Agent } from '../src/agent.ts'
import type { Overrides } from '../src/context.ts'
import { lockSubscription, setSubscription } from '../src/subscriptions/store.ts'
import type { Payer, Wallet } from './wallets.ts'

export interface Reply<Body> {
  status: number
  headers: Headers
  body: Body
}

export interface AgentCall extends SignedCall {
  /** The X-Svc-Identity header: the signer by default, null for none. */
  identity?: string | null
}

export interface AgentStack {
  chains: LocalChains
  gateway: Awaited<ReturnType<typeof startTestGateway>>
  /** The agent service reaches the gateway through this proxy. */
  proxy: FaultyProxy
  agent: Agent
  clock: {
    /** Unix milliseconds. */
    now: () => number
    /** Unix seconds. */
    seconds: () => number
    advance(seconds: number): void
  }
  /** Sends an unsigned request. */
  send<Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<Body>>
  sign(who: Identity, call: AgentCall): { headers: Record<string, string>; body: Uint8Array | undefined }
  call<Body>(who: Identity, call: AgentCall): Promise<Reply<Body>>
  /** Buys thirty days with a payment on the chain. */
  subscribe(payer: Payer): Promise<SubscriptionConfirmation>
  /** Inserts a subscription of thirty days from now into the database, without a payment. */
  grantSubscription<P extends Identity>(who: P): Promise<P>
  seedReceipt(owner: Identity): Promise<Locker>
  /** A receipt whose locker is open. */
  seedLocker(owner: Identity): Promise<Locker>
  delegate(owner: Identity, locker: Locker, tasks?: Tasks): Promise<DelegateAnswer>
  /** Delegates, registers the key at the gateway, and lets the service find the registration. */
  delegateAndRegister(owner: Wallet, locker: Locker, tasks?: Tasks): Promise<DelegateAnswer>
  readDelegation(owner: Identity, delegationId: string, after?: number): Promise<Delegation>
  endDelegation(owner: Identity, delegationId: string): Promise<Reply<DelegationSummary>>
  /** The owner's client of the gateway. */
  client(who: Wallet): Client
  /** Runs all due jobs. */
  runJobs(): ReturnType<Agent['context']['queue']['drain']>
  stop(): Promise<void>
}

const START_TIME = Date.UTC(2026, 8, 1, 12)
const TERM_SECONDS = 30 * 86_400

/** For the file or describe block that calls it. The stack is available from `beforeAll` on. */
export function useAgentStack(variables?: () => Variables, overrides?: Overrides): AgentStack {
  return forAllTests(() => startAgentStack(variables?.(), overrides))
}

export async function startAgentStack(variables: Variables = {}, overrides: Overrides = {}): Promise<AgentStack> {
  let time = START_TIME
  const now = () => time
  const seconds = () => Math.floor(time / 1000)
  const waitToRetry = async (_ms: number, signal?: AbortSignal) => signal?.throwIfAborted()
  const chains = await startLocalChains({ now })
  const gateway = await startTestGateway(chains.variables, { now })
  const proxy = await startFaultyProxy(gateway.url)
  const settings = { ...chains.agentVariables, GATEWAY_URL: proxy.url, ...variables }
  const agent = await startTestAgent(settings, { now, waitToRetry, ...overrides })
  const { database, queue } = agent.context

  async function send<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const bytes = bytesOf(body)
    const type = bytes && { 'content-type': 'application/json' }
    const init = { method, headers: { ...type, ...headers }, ...(bytes && { body: bytes }) }
    const response = await fetch(agent.url + path, init as RequestInit)
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
  }

  function sign(who: Identity, { identity = who.identity, headers, envelope, ...call }: AgentCall) {
    const named = identity === null ? {} : { 'x-svc-identity': identity }
    const request = { ...call, headers: { ...named, ...headers }, envelope: { aud: agent.url, ...envelope } }
    return signCall(who, request, now())
  }

  async function call<Body>(who: Identity, request: AgentCall) {
    const { headers, body } = sign(who, request)
    return send<Body>(request.method ?? 'GET', request.path, body, headers)
  }

  async function must<Body>(answer: Promise<Reply<Body>>, wanted = 200): Promise<Body> {
    const { status, body } = await answer
    expect(status, JSON.stringify(body)).toBe(wanted)
    return body
  }

  const client = ({ signer }: Wallet) =>
    createClient({ baseUrl: gateway.url, signer, onWarning: () => {} }, { now, wait: waitToRetry })

  async function delegate(owner: Identity, locker: Locker, tasks?: Tasks) {
    return must(call<DelegateAnswer>(owner, delegateCall(locker, tasks)))
  }

  return {
    chains,
    gateway,
    proxy,
    agent,
    clock: {
      now,
      seconds,
      advance(seconds) {
        time += seconds * 1000
      },
    },
    send,
    sign,
    call,
    client,
    delegate,
    async subscribe({ identity, network, number }) {
      const choice = { pay_network: network.name, pay_asset: 'USDC' }
      const quote = await must(
        send<SubscriptionQuote>('GET', `/v1/service/request?${new URLSearchParams(choice)}`),
        402,
      )
      const [leg] = quote.accepts
      const { pay_req_id } = quote.extensions.svc.info
      const tx = await payLeg(chains, leg!, { payer: number })
      const headers = { 'x402-tx': tx, 'x-svc-identity': identity }
      return must(send<SubscriptionConfirmation>('POST', '/v1/service/confirm', { pay_req_id, ...choice }, headers))
    },
    async grantSubscription(who) {
      const starts_at = seconds()
      const row = await lockSubscription(writable(database.db), who.identity, `sub_${randomBytes(16).toString('hex')}`)
      await setSubscription(writable(database.db), { ...row, starts_at, expires_at: starts_at + TERM_SECONDS })
      return who
    },
    seedReceipt: async ({ identity: owner }) => lockerOf((await seedReceipt(gateway.context, { owner })).receipt_id),
    async seedLocker({ identity: owner }) {
      const { locker_id, receipt_id } = await seedLocker(gateway.context, { owner })
      return { locker_id, receipt_id }
    },
    async delegateAndRegister(owner, locker, tasks) {
      const delegation = await delegate(owner, locker, tasks)
      await client(owner).addOperator(locker, delegation.agent_pubkey)
      await agent.modules.delegations.checkRegistration(delegation.delegation_id)
      return delegation
    },
    async readDelegation(owner, delegationId, after) {
      const path = `/v1/delegations/${delegationId}${after === undefined ? '' : `?after=${after}`}`
      return must(call<Delegation>(owner, { path, ops: ['locker:read'] }))
    },
    endDelegation: (owner, delegationId) =>
      call(owner, { method: 'DELETE', path: `/v1/delegations/${delegationId}`, ops: ['locker:admin'] }),
    runJobs: () => queue.drain(),
    async stop() {
      await agent.stop()
      await proxy.stop()
      await gateway.stop()
      await chains.stop()
    },
  }
}

/**
 * Starts another process of the same service, with other settings; on the same database unless the variables name
 * another.
 */
export function startSecondAgent({ chains, proxy, agent, clock }: AgentStack, variables: Variables): Promise<Agent> {
  const DATABASE_URL = `sqlite:${agent.context.config.dataDir}/agent.db`
  const settings = { ...chains.agentVariables, GATEWAY_URL: proxy.url, DATABASE_URL, ...variables }
  return startTestAgent(settings, { now: clock.now })
}

export function delegateCall({ receipt_id, locker_id }: Locker, tasks?: Tasks): AgentCall {
  const body = { receipt_id, locker_id, ...(tasks && { tasks }) }
  return {
    method: 'POST',
    path: '/v1/delegate',
    body,
    ops: ['locker:admin'],
    receiptId: receipt_id,
    lockerId: locker_id,
  }
}

/** Expects an error with this status and code. */
export function expectRefusal({ status, body }: Reply<unknown>, wanted: number, code: string): void {
  expect([status, (body as { error?: string } | null)?.error], JSON.stringify(body)).toEqual([wanted, code])
}
