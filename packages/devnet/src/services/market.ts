// For tests: both local chains, a clock that the test moves, and gateways that sell there.

import { networkNamed } from '@svc/api/networks'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import type { Overrides } from '@svc/gateway/context'
import type { Variables } from '@svc/service/program/config'
import { expect } from 'vitest'
import { type TestClock, testClock } from '../clock.ts'
import { type LocalChains, type LocalChainsOptions, startLocalChains } from '../local-chains.ts'
import { type PayOptions, payLeg } from '../pay-leg.ts'
import { openTestGateway, type Reply, type TestGateway } from './test-gateway.ts'

export interface Market {
  chains: LocalChains
  clock: TestClock
  open(variables?: Variables, overrides?: Overrides): Promise<TestGateway>
  /** Returns the id of the transaction. */
  pay(leg: PaymentLeg, options?: PayOptions): Promise<string>
  /** Stops the chains and every shop that is still open. */
  close(): Promise<void>
}

const key = (byte: string) => byte.repeat(32)

/** Settings of a production gateway, which refuses development keys and treasuries. */
export const PRODUCTION = {
  SVC_MODE: 'production',
  BASE_URL: 'https://gateway.example',
  STATEMENT_KEY: key('01'),
  PUBLICATION_KEY: key('02'),
  SHORT_URL_KEY: key('03'),
  X402_SVM_FEE_PAYER_KEY: key('04'),
  X402_EVM_FACILITATOR_KEY: key('05'),
  PRIMARY_TREASURY: 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe',
  EVM_TREASURY: `0x${'ab'.repeat(20)}`,
}

/** Settings that leave out one of the chains. */
export const WITHOUT_PRIMARY = { PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '', X402_SVM_FEE_PAYER_KEY: '' }
export const WITHOUT_EVM = { EVM_RPC_URLS: '', EVM_TREASURY: '', X402_EVM_FACILITATOR_KEY: '' }

export async function openMarket(options: LocalChainsOptions = {}): Promise<Market> {
  const clock = testClock()
  const chains = await startLocalChains({ now: clock.now, ...options })
  const shops: TestGateway[] = []
  return {
    chains,
    clock,
    async open(variables, overrides) {
      const settings = { ...chains.variables, ...variables }
      const shop = await openTestGateway(settings, { clock, ...overrides })
      shops.push(shop)
      return shop
    },
    pay: (leg, options) => payLeg(chains, leg, options),
    async close() {
      await Promise.all(shops.map(({ close }) => close()))
      await chains.stop()
    },
  }
}

export function payReqId(quote: Quote): string {
  return quote.extensions.svc.info.pay_req_id
}

export function legOf(quote: Quote, ticker: string, network = 'primary-mainnet'): PaymentLeg {
  const leg = quote.accepts.find(
    (candidate) => candidate.extra.name === ticker && candidate.network === networkNamed(network)?.caip2,
  )
  if (!leg) throw new Error(`${ticker} on ${network} is not in this quote`)
  return leg
}

/** Quotes, pays the first leg, confirms. */
export async function buy(market: Market, shop: TestGateway, order: object = { units: 1 }, options?: PayOptions) {
  const quote = await shop.quote(order)
  const tx = await market.pay(quote.accepts[0]!, options)
  const { status, body } = await shop.confirm({ pay_req_id: payReqId(quote) }, tx)
  expect(status, JSON.stringify(body)).toBe(200)
  return { quote, tx, ...body }
}

/** Also checks that nothing in the answer makes a stock client pay again (ADD-02). */
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
