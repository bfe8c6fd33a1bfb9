// For tests: purchases that are cut short, and gone on with.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Overrides } from './context.ts'
import { memoryJournal } from './journal.ts'
import type { PaymentRecord } from './purchases/settle.ts'
import { type Ending, endingWorld } from './test-effects.ts'
import type { Buyer, Market } from './test-market.ts'
import type { SignedPayment } from './wallets/wallet.ts'

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

let count = 0

/** Buys in a world that stands still at one effect, as if the process had ended there. */
export async function cutPurchase(market: Market, buyer: Buyer, asset: string, ending: Ending): Promise<CutPurchase> {
  const journal = memoryJournal()
  const order = { intent: `purchase ${++count}`, asset, units: 1 }
  const options = { signer: buyer.signer, pinnedKeys: [market.key] }
  const { promise: cut, resolve: end } = Promise.withResolvers<null>()
  const world = endingWorld({ fetch, journal, wallet: buyer.wallet }, ending, () => {
    end(null)
    return new Promise<never>(() => {})
  })
  const client = market.client({ ...options, fetch: world.fetch, journal: world.journal })
  const outcome = await Promise.race([cut, client.buy({ ...order, wallet: world.wallet })])
  return {
    effects: world.effects,
    isCut: outcome === null,
    async goOn({ wallet } = buyer, { signal, ...overrides } = {}) {
      const other = market.client({ ...options, journal }, overrides)
      return (await other.buy({ ...order, wallet, signal })).receipt
    },
    async signed() {
      const text = await journal.get(`purchase ${market.proxy.url} ${order.intent}`)
      return (JSON.parse(text ?? '') as PaymentRecord).attempts.map(({ payment }) => payment)
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
