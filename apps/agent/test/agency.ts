// For tests: both chains, a gateway and an agent service that sell there, something between the two that can get in the
// way, a clock that stands until it is moved, and people who sign.

import { randomBytes } from 'node:crypto'
import type { DelegateAnswer, Delegation } from '@svc/api/agent/delegations'
import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Tasks } from '@svc/api/agent/tasks'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import { startProxy, type TestProxy } from '@svc/devnet/tampering-proxy'
import type { Variables } from '@svc/http-service/config'
import { type Client, createClient, type Locker, lockerOf } from '@svc/sdk'
import { startTestAgent } from '@svc/testbed/agent'
import { startTestGateway } from '@svc/testbed/gateway'
import { seedLocker, seedReceipt } from '@svc/testbed/seed-lockers'
import { bytesOf, type Identity, type SignedCall, signCall } from '@svc/testbed/signing'
import { expect } from 'vitest'
import type { Agent } from '../src/agent.ts'
import type { Overrides } from '../src/context.ts'
import { checkRegistration } from '../src/delegations/check-registration.ts'
import { lockSubscription, setSubscription } from '../src/subscriptions/store.ts'
import type { Payer, Person } from './people.ts'

export { ed25519Person, evmPayer, evmPerson, type Payer, type Person, primaryPayer } from './people.ts'

export interface Reply<Body> {
  status: number
  headers: Headers
  body: Body
}

export interface AgentCall extends SignedCall {
  /** What X-Svc-Identity says: who signs unless told otherwise, null for nothing. */
  identity?: string | null
}

export interface Agency {
  chains: LocalChains
  gateway: Awaited<ReturnType<typeof startTestGateway>>
  /** Where the agent service finds the gateway. */
  between: TestProxy
  agent: Agent
  clock: { now: () => number; advance(seconds: number): void }
  /** Unsigned. */
  send<Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<Body>>
  sign(who: Identity, call: AgentCall): { headers: Record<string, string>; body: Uint8Array | undefined }
  call<Body>(who: Identity, call: AgentCall): Promise<Reply<Body>>
  /** Buys thirty days with a payment on the chain. */
  subscribe(payer: Payer): Promise<SubscriptionConfirmation>
  /** Thirty days from now that nobody paid for, written straight into the book. */
  grant<P extends Identity>(who: P): Promise<P>
  receipt(owner: Identity): Promise<Locker>
  /** The same, with its locker opened. */
  locker(owner: Identity): Promise<Locker>
  delegate(owner: Identity, locker: Locker, tasks?: Tasks): Promise<DelegateAnswer>
  /** A delegation whose key the owner has registered, and the service has found registered. */
  delegateActively(owner: Person, locker: Locker, tasks?: Tasks): Promise<DelegateAnswer>
  read(owner: Identity, delegationId: string, after?: number): Promise<Delegation>
  /** The gateway as this person sees it. */
  client(who: Person): Client
  drain(): ReturnType<Agent['context']['queue']['drain']>
  close(): Promise<void>
}

const OPENING_TIME = Date.UTC(2026, 8, 1, 12)
const TERM_SECONDS = 30 * 86_400

export async function openAgency(variables: Variables = {}, overrides: Overrides = {}): Promise<Agency> {
  let time = OPENING_TIME
  const now = () => time
  const chains = await startLocalChains({ finalAtOnce: true, now })
  const gateway = await startTestGateway(chains.variables, { now })
  const between = await startProxy(gateway.url)
  const settings = { ...chains.agentVariables, GATEWAY_URL: between.url, ...variables }
  const agent = await startTestAgent(settings, { now, ...overrides })
  const { database, queue } = agent.context

  async function send<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const bytes = bytesOf(body)
    const type = bytes && { 'content-type': 'application/json' }
    const init = { method, headers: { ...type, ...headers }, ...(bytes && { body: bytes }) }
    const response = await fetch(agent.url + path, init as RequestInit)
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
  }

  function sign(who: Identity, { identity = who.identity, headers, ...call }: AgentCall) {
    const named = identity === null ? {} : { 'x-svc-identity': identity }
    return signCall(who, { ...call, headers: { ...named, ...headers } }, now())
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

  const client = ({ signer }: Person) =>
    createClient({ baseUrl: gateway.url, signer, onWarning: () => {} }, { now, wait: async () => {} })

  async function delegate(owner: Identity, locker: Locker, tasks?: Tasks) {
    return must(call<DelegateAnswer>(owner, delegateCall(locker, tasks)))
  }

  return {
    chains,
    gateway,
    between,
    agent,
    clock: {
      now,
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
    async grant(who) {
      const starts_at = Math.floor(time / 1000)
      const row = await lockSubscription(database.db, who.identity, `sub_${randomBytes(16).toString('hex')}`)
      await setSubscription(database.db, { ...row, starts_at, expires_at: starts_at + TERM_SECONDS })
      return who
    },
    receipt: async ({ identity: owner }) => lockerOf((await seedReceipt(gateway.context, { owner })).receipt_id),
    async locker({ identity: owner }) {
      const { locker_id, receipt_id } = await seedLocker(gateway.context, { owner })
      return { locker_id, receipt_id }
    },
    async delegateActively(owner, locker, tasks) {
      const delegation = await delegate(owner, locker, tasks)
      await client(owner).addOperator(locker, delegation.agent_pubkey)
      await checkRegistration(agent.context, delegation.delegation_id)
      return delegation
    },
    async read(owner, delegationId, after) {
      const path = `/v1/delegations/${delegationId}${after === undefined ? '' : `?after=${after}`}`
      return must(call<Delegation>(owner, { path, ops: ['locker:read'] }))
    },
    drain: () => queue.drain(),
    async close() {
      await agent.stop()
      await between.stop()
      await gateway.stop()
      await chains.stop()
    },
  }
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

/** An error by its code. */
export function expectRefusal({ status, body }: Reply<unknown>, wanted: number, code: string): void {
  expect([status, (body as { error?: string } | null)?.error], JSON.stringify(body)).toEqual([wanted, code])
}
