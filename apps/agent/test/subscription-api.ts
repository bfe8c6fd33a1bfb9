// The endpoints that sell subscriptions, called over HTTP one step at a time.

import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { networkNamed } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import { type PayOptions, payLeg } from '@svc/devnet/pay-leg'
import { expect } from 'vitest'
import type { Agent } from '../src/agent.ts'
import type { AgentStack, Reply } from './agent-stack.ts'
import type { Payer } from './wallets.ts'

interface Confirmation {
  quote: SubscriptionQuote
  tx: string
  /** The X-Svc-Identity header; null for none. */
  identity: string | null
  /** The first leg of the quote by default. */
  leg?: PaymentLeg
}

/** Reads the URL for each call, so that it may be created before the agent has started. */
export function subscriptionApi(agent: () => Pick<Agent, 'url'>) {
  const requestQuote = async (choice: Record<string, string> = {}) =>
    reply<SubscriptionQuote>(await fetch(`${agent().url}/v1/service/request?${new URLSearchParams(choice)}`))
  const postConfirm = async <Body>(body: unknown, headers: Record<string, string>) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text }
    return reply<Body>(await fetch(`${agent().url}/v1/service/confirm`, init))
  }
  return {
    requestQuote,
    postConfirm,
    /** Requests a quote; any status but 402 fails the test. */
    async quote(choice?: Record<string, string>) {
      const { status, body } = await requestQuote(choice)
      expect(status, JSON.stringify(body)).toBe(402)
      return body
    },
    confirm({ quote, tx, identity, leg }: Confirmation) {
      const choice = leg && { pay_network: leg.network, pay_asset: leg.extra.name }
      const named = identity !== null && { 'x-svc-identity': identity }
      return postConfirm<SubscriptionConfirmation>(
        { pay_req_id: payReqId(quote), ...choice },
        { 'x402-tx': tx, ...named },
      )
    },
  }
}

async function reply<Body>(response: Response): Promise<Reply<Body>> {
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
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

/** Pays on the chain and returns the id of the transaction. */
export function pay(
  { chains }: AgentStack,
  leg: PaymentLeg,
  { number }: Payer,
  options: PayOptions = {},
): Promise<string> {
  return payLeg(chains, leg, { payer: number, ...options })
}

export async function countPurchases({ agent }: AgentStack): Promise<{ receipts: number; subscriptions: number }> {
  const { db } = agent.context.database
  const count = async (table: 'receipts' | 'subscriptions') =>
    (await db.selectFrom(table).select('subscription_id').execute()).length
  return { receipts: await count('receipts'), subscriptions: await count('subscriptions') }
}

/** Expects an error with this code, and no offer that would make an x402 client pay a second time (ADD-02). */
export function expectError({ status, headers, body }: Reply<unknown>, wanted: number, code: string, reason?: string) {
  expect([status, body]).toEqual([
    wanted,
    expect.objectContaining({
      error: code,
      message: expect.any(String),
      request_id: expect.stringMatching(/^req_/),
      ...(reason && { details: expect.objectContaining({ reason }) }),
    }),
  ])
  expect(headers.get('payment-required')).toBeNull()
  expect(headers.get('cache-control')).toBe('no-store')
}
