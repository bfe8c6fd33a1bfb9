// For tests: purchases that are interrupted and resumed.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Overrides } from '../src/context.ts'
import { memoryJournal } from '../src/journal.ts'
import { readPurchase } from '../src/purchases/purchase-journal.ts'
import type { SignedPayment } from '../src/wallets/wallet.ts'
import type { Buyer, Market } from './market.ts'

interface Interruption {
  /** The number of the effect, or a name for the first effect of that name. */
  effect: number | string
  when: 'before' | 'after'
}

interface InterruptedPurchase {
  /** The names of the effects so far. */
  effects: string[]
  /** Whether the purchase was interrupted. */
  isInterrupted: boolean
  /** Makes the same purchase in a process that has only the journal. */
  resume(buyer?: Buyer, overrides?: Overrides & { signal?: AbortSignal }): Promise<SignedReceipt>
  /** The signed payments in the journal. */
  signed(): Promise<SignedPayment[]>
}

let count = 0

/** Buys storage and stops at one effect, as if the process had crashed there. */
export async function interruptPurchase(
  market: Market,
  { signer, wallet }: Buyer,
  asset: string,
  { effect, when }: Interruption,
): Promise<InterruptedPurchase> {
  const journal = memoryJournal()
  const order = { intent: `purchase ${++count}`, units: 1, asset }
  const effects: string[] = []
  const { promise: interrupted, resolve: end } = Promise.withResolvers<null>()
  function watched<Args extends unknown[], Result>(name: string, work: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      const number = effects.push(name)
      const isLast = number === effect || (name === effect && effects.indexOf(name) === number - 1)
      const stop = () => {
        end(null)
        return new Promise<never>(() => {})
      }
      if (isLast && when === 'before') return stop()
      const result = await work(...args)
      return isLast ? stop() : result
    }
  }
  const pinnedKeys = [market.key]
  const watchedJournal = { get: journal.get, put: watched('put', journal.put) }
  const client = market.client({ signer, pinnedKeys, fetch: watched('fetch', fetch), journal: watchedJournal }, {})
  const watchOnlyWallet = {
    ...wallet,
    sign: watched('sign', wallet.sign),
    send: watched('send', wallet.send),
    outcomeOf: watched('outcomeOf', wallet.outcomeOf),
  }
  const outcome = await Promise.race([interrupted, client.buy({ ...order, wallet: watchOnlyWallet })])
  return {
    effects,
    isInterrupted: outcome === null,
    async resume(buyer = { signer, wallet }, { signal, ...overrides } = {}) {
      const again = market.client({ signer, pinnedKeys, journal }, overrides)
      return (await again.buy({ ...order, wallet: buyer.wallet, signal })).receipt
    },
    async signed() {
      const record = await readPurchase({ journal, baseUrl: market.proxy.url }, order.intent)
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
