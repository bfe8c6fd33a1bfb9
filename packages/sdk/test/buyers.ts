// For tests: purchases that are cut short, and gone on with.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { ClientOptions, Overrides } from '../src/context.ts'
import { memoryJournal } from '../src/journal.ts'
import { type Intention, readPurchase } from '../src/purchases/purchase.ts'
import type { SignedPayment } from '../src/wallets/wallet.ts'
import { type Ending, endingWorld } from './effects.ts'
import type { Buyer, Market } from './market.ts'

export interface CutPurchase {
  /** What was done. */
  effects: string[]
  /** Whether it was cut at all. */
  isCut: boolean
  /** The same purchase by a process that remembers nothing but the journal. */
  goOn(buyer?: Buyer, overrides?: Overrides & { signal?: AbortSignal }): Promise<SignedReceipt>
  /** The payments that were signed, as they are noted. */
  signed(): Promise<SignedPayment[]>
}

/** Buys something; what is bought, and where, is its own business. */
type Buy = (options: Partial<ClientOptions>, overrides: Overrides, intention: Intention) => Promise<SignedReceipt>

let count = 0

/** Buys storage in a world that stands still at one effect, as if the process had ended there. */
export function cutPurchase(market: Market, buyer: Buyer, asset: string, ending: Ending): Promise<CutPurchase> {
  const buy: Buy = async (options, overrides, intention) => {
    const client = market.client({ ...options, pinnedKeys: [market.key] }, overrides)
    return (await client.buy({ ...intention, units: 1 })).receipt
  }
  return cutShort(market.proxy.url, buyer, asset, ending, buy)
}

export async function cutShort(
  baseUrl: string,
  buyer: Buyer,
  asset: string,
  ending: Ending,
  buy: Buy,
): Promise<CutPurchase> {
  const journal = memoryJournal()
  const order = { intent: `purchase ${++count}`, asset }
  const { signer } = buyer
  const { promise: cut, resolve: end } = Promise.withResolvers<null>()
  const world = endingWorld({ fetch, journal, wallet: buyer.wallet }, ending, () => {
    end(null)
    return new Promise<never>(() => {})
  })
  const options = { signer, fetch: world.fetch, journal: world.journal }
  const outcome = await Promise.race([cut, buy(options, {}, { ...order, wallet: world.wallet })])
  return {
    effects: world.effects,
    isCut: outcome === null,
    goOn: ({ wallet } = buyer, { signal, ...overrides } = {}) =>
      buy({ signer, journal }, overrides, { ...order, wallet, signal }),
    async signed() {
      const record = await readPurchase({ journal, baseUrl }, order.intent)
      return record!.attempts.map(({ payment }) => payment)
    },
  }
}

/** Gives up after so many waits. */
export function patience(waits: number): Overrides & { signal: AbortSignal } {
  const controller = new AbortController()
  const wait = async () => {
    if (--waits === 0) controller.abort()
  }
  return { wait, signal: controller.signal }
}
