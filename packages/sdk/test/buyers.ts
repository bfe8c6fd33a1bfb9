// For tests: purchases that are interrupted and resumed.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { ClientOptions, Overrides } from '../src/context.ts'
import { memoryJournal } from '../src/journal.ts'
import { type Intention, readPurchase } from '../src/purchases/purchase.ts'
import type { SignedPayment } from '../src/wallets/wallet.ts'
import { type Interruption, interruptible } from './effects.ts'
import type { Buyer, Market } from './market.ts'

export interface InterruptedPurchase {
  /** The names of the effects so far. */
  effects: string[]
  /** Whether the purchase was interrupted. */
  isInterrupted: boolean
  /** Makes the same purchase in a process that has only the journal. */
  resume(buyer?: Buyer, overrides?: Overrides & { signal?: AbortSignal }): Promise<SignedReceipt>
  /** The signed payments in the journal. */
  signed(): Promise<SignedPayment[]>
}

/** Buys something from some service and returns its receipt. */
type Buy = (options: Partial<ClientOptions>, overrides: Overrides, intention: Intention) => Promise<SignedReceipt>

let count = 0

/** Buys storage and stops at one effect, as if the process had crashed there. */
export function interruptPurchase(
  market: Market,
  buyer: Buyer,
  asset: string,
  interruption: Interruption,
): Promise<InterruptedPurchase> {
  const buy: Buy = async (options, overrides, intention) => {
    const client = market.client({ ...options, pinnedKeys: [market.key] }, overrides)
    return (await client.buy({ ...intention, units: 1 })).receipt
  }
  return interruptBuy(market.proxy.url, buyer, asset, interruption, buy)
}

export async function interruptBuy(
  baseUrl: string,
  buyer: Buyer,
  asset: string,
  interruption: Interruption,
  buy: Buy,
): Promise<InterruptedPurchase> {
  const journal = memoryJournal()
  const order = { intent: `purchase ${++count}`, asset }
  const { signer } = buyer
  const { promise: interrupted, resolve: end } = Promise.withResolvers<null>()
  const environment = interruptible({ fetch, journal, wallet: buyer.wallet }, interruption, () => {
    end(null)
    return new Promise<never>(() => {})
  })
  const options = { signer, fetch: environment.fetch, journal: environment.journal }
  const outcome = await Promise.race([interrupted, buy(options, {}, { ...order, wallet: environment.wallet })])
  return {
    effects: environment.effects,
    isInterrupted: outcome === null,
    resume: ({ wallet } = buyer, { signal, ...overrides } = {}) =>
      buy({ signer, journal }, overrides, { ...order, wallet, signal }),
    async signed() {
      const record = await readPurchase({ journal, baseUrl }, order.intent)
      return record!.attempts.map(({ payment }) => payment)
    },
  }
}

/** Aborts at the given number of waits. */
export function abortAfterWaits(waits: number): Overrides & { signal: AbortSignal } {
  const controller = new AbortController()
  const wait = async () => {
    if (--waits === 0) controller.abort()
  }
  return { wait, signal: controller.signal }
}
