// For tests: people who buy from an agent service, step by step.

import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { PaymentLeg } from '@svc/api/quote'
import { type PayOptions, payLeg } from '@svc/devnet/pay-leg'
import type { Variables } from '@svc/http-service/config'
import { networkNamed } from '@svc/payments/networks'
import { startTestAgent } from '@svc/testbed/agent'
import { expect } from 'vitest'
import type { Agent } from '../src/agent.ts'
import type { Agency, Payer, Reply } from './agent-stack.ts'

interface Showing {
  quote: SubscriptionQuote
  tx: string
  /** For X-Svc-Identity; null for none. */
  identity: string | null
  /** The first where it is not said. */
  leg?: PaymentLeg
}

/** Where an agent service sells, spoken to over HTTP. */
export interface Till {
  ask(choice?: Record<string, string>): Promise<Reply<SubscriptionQuote>>
  /** A quote; anything but 402 fails the test. */
  quote(choice?: Record<string, string>): Promise<SubscriptionQuote>
  show(showing: Showing): Promise<Reply<SubscriptionConfirmation>>
  post<Body>(body: unknown, headers: Record<string, string>): Promise<Reply<Body>>
}

export function tillOf({ url }: Pick<Agent, 'url'>): Till {
  const ask: Till['ask'] = async (choice = {}) =>
    reply(await fetch(`${url}/v1/service/request?${new URLSearchParams(choice)}`))
  const post = async <Body>(body: unknown, headers: Record<string, string>) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text }
    return reply<Body>(await fetch(`${url}/v1/service/confirm`, init))
  }
  return {
    ask,
    post,
    async quote(choice) {
      const { status, body } = await ask(choice)
      expect(status, JSON.stringify(body)).toBe(402)
      return body
    },
    show({ quote, tx, identity, leg }) {
      const choice = leg && { pay_network: leg.network, pay_asset: leg.extra.name }
      const named = identity !== null && { 'x-svc-identity': identity }
      return post({ pay_req_id: payReqId(quote), ...choice }, { 'x402-tx': tx, ...named })
    },
  }
}

async function reply<Body>(response: Response): Promise<Reply<Body>> {
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
}

/** Another process of the same service, as far as tests can have one: on its database, with other settings. */
export function startSecondAgent({ chains, between, agent, clock }: Agency, variables: Variables): Promise<Agent> {
  const DATABASE_URL = `sqlite:${agent.context.config.dataDir}/agent.db`
  const settings = { ...chains.agentVariables, GATEWAY_URL: between.url, DATABASE_URL, ...variables }
  return startTestAgent(settings, { now: clock.now })
}

export function payReqId(quote: SubscriptionQuote): string {
  return quote.extensions.svc.info.pay_req_id
}

export function legOf(quote: SubscriptionQuote, ticker: string, network = 'primary-mainnet'): PaymentLeg {
  const leg = quote.accepts.find(
    (candidate) => candidate.extra.name === ticker && candidate.network === networkNamed(network)?.caip2,
  )
  if (!leg) throw new Error(`${ticker} on ${network} is not in this quote`)
  return leg
}

/** The transaction's id. */
export function pay({ chains }: Agency, leg: PaymentLeg, { number }: Payer, options: PayOptions = {}): Promise<string> {
  return payLeg(chains, leg, { payer: number, ...options })
}

/** How much of anything is in the book. */
export async function booked({ agent }: Agency): Promise<{ receipts: number; subscriptions: number }> {
  const { db } = agent.context.database
  const count = async (table: 'receipts' | 'subscriptions') =>
    (await db.selectFrom(table).select('subscription_id').execute()).length
  return { receipts: await count('receipts'), subscriptions: await count('subscriptions') }
}

/** An error by its code, with nothing that would make a stock client pay a second time (ADD-02). */
export function expectError({ status, headers, body }: Reply<unknown>, wanted: number, code: string, reason?: string) {
  expect([status, body]).toEqual([
    wanted,
    expect.objectContaining({
      error: code,
      message: expect.any(String),
      request_id: expect.stringMatching(/^req_/),
      ...(reason && { details: { reason } }),
    }),
  ])
  expect(headers.get('payment-required')).toBeNull()
  expect(headers.get('cache-control')).toBe('no-store')
}
