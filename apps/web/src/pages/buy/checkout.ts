// The purchase that the page shows: its next step and its outcome.

import { signal } from '@preact/signals'
import type { PaymentLeg } from '@svc/api/quote'
import { oneAtATime, withFreePurchase, withPurchase } from '../../paying/one-at-a-time.ts'
import { type Problem, problemOf, unknownOutcome } from '../../paying/problem.ts'
import type { ConnectedWallet } from '../../wallets/wallet.ts'
import { type ActivePurchase, holdPurchase, type Stage } from './active-purchase.ts'
import { keep, type Order, readKept, removeKept, type SavedPurchase } from './saved-purchases.ts'
import * as steps from './steps.ts'

export type Checkout = ReturnType<typeof createCheckout>

export function createCheckout() {
  const purchase = signal<SavedPurchase | null>(null)
  const stage = signal<Stage>({ at: 'choose', problem: null })
  const wallet = signal<ConnectedWallet | null>(null)
  const leg = signal<PaymentLeg | null>(null)
  const method = signal(0)
  const isLookingOver = signal(false)
  const work = oneAtATime()
  let isLooking = false
  /** What was opened last is shown, whichever is read first. */
  let opened = 0

  const page = {
    onChange(next: SavedPurchase) {
      if (purchase.value?.id === next.id) purchase.value = next
    },
    onStage(next: Stage) {
      stage.value = next
    },
  }

  /** Gets a quote for an order, and keeps it as a purchase. */
  function begin(order: Order): Promise<void> {
    opened++
    page.onStage({ at: 'working', doing: 'quote' })
    return work.run(async (signal) => {
      try {
        const { client } = await steps.tools()
        const quote = await client.quote(steps.orderOf(order), { signal })
        if (signal.aborted) return
        const started = new Date().toISOString()
        const begun = { id: newId(), started, order, quotes: [quote], isShownElsewhere: false, receipt: null }
        await keep(begun)
        if (signal.aborted) return
        show(begun)
        page.onStage({ at: 'pay', problem: null })
      } catch (error) {
        const problem = await problemOf(error)
        if (!signal.aborted) page.onStage({ at: 'choose', problem })
      }
    })
  }

  function show(next: SavedPurchase | null): void {
    purchase.value = next
    isLookingOver.value = false
  }

  /** Shows a purchase of this browser where it stands. */
  async function open(id: string): Promise<void> {
    work.stop()
    const mine = ++opened
    show(null)
    page.onStage({ at: 'working', doing: 'checking' })
    const kept = await readKept(id)
    if (mine !== opened) return
    show(kept)
    if (!kept) return page.onStage({ at: 'gone' })
    if (kept.receipt) return page.onStage({ at: 'done', receipt: kept.receipt })
    await settle()
  }

  function reset(): void {
    work.stop()
    opened++
    show(null)
    page.onStage({ at: 'choose', problem: null })
  }

  const settle = (problem: Problem | null = null) => run((held) => steps.settle(held, problem))

  const pay = (connected: ConnectedWallet, leg: PaymentLeg) => run((held) => steps.pay(held, connected, leg))

  const renewQuote = () =>
    run(async (held) => {
      await steps.renewQuote(held)
      isLookingOver.value = false
    })

  const confirmTransaction = (tx: string, preferred: PaymentLeg | null) => {
    const afterwards = stage.value.at === 'pay' ? 'pay' : 'unsettled'
    return run((held) => steps.confirmTransaction(held, tx, preferred), afterwards)
  }

  /** Noted before anybody can see how to pay elsewhere. */
  async function showElsewhere(): Promise<void> {
    if (!shown().isShownElsewhere) await run((held) => held.change({ isShownElsewhere: true }))
    if (purchase.value?.isShownElsewhere) await steps.watchElsewhere(purchase.value)
  }

  /** Looks once for a payment that was made elsewhere. */
  async function look(): Promise<void> {
    const { value: looked } = purchase
    const isAtRest = () => purchase.value?.id === looked?.id && stage.value.at === 'pay' && !work.isBusy()
    if (!looked || isLooking || !isAtRest()) return
    isLooking = true
    try {
      const { client } = await steps.tools()
      const found = await steps.findElsewhere(looked, client).catch(() => null)
      if (!found || !isAtRest()) return
      const { receipt, isOver } = found
      if (receipt) await run((held) => held.finish(receipt))
      // Another quote may be there since.
      else isLookingOver.value = isOver && purchase.value?.quotes.length === looked.quotes.length
    } finally {
      isLooking = false
    }
  }

  /** Waits no longer for a payment that was sent. */
  async function doubt(): Promise<void> {
    const { id } = shown()
    work.stop()
    await work.ended()
    const isUnanswered = await steps.isUnanswered(id)
    if (purchase.value?.id !== id || work.isBusy() || stage.value.at !== 'working') return
    page.onStage({ at: 'unsettled', problem: unknownOutcome(), isUnanswered })
  }

  /** On the word of the payer, who has looked into the wallet. */
  const nothingWasSent = () =>
    run(async (held) => {
      const { sdk, place } = await steps.tools()
      await sdk.forgetUnansweredPayment(place, held.id)
      await steps.settle(held)
    })

  /** False if another tab works on it. */
  async function remove(id: string): Promise<boolean> {
    if (purchase.value?.id === id) reset()
    await work.ended()
    return withFreePurchase(id, () => removeKept(id))
  }

  /** Does something for the purchase that is shown now. After a failure, the page is where that leaves it. */
  function run(step: (held: ActivePurchase) => Promise<void>, afterwards?: 'pay' | 'unsettled'): Promise<void> {
    const target = shown()
    return work.run(async (signal) => {
      const held = holdPurchase(target, signal, page)
      try {
        await lockAndRun(held, step)
      } catch (error) {
        const problem = await problemOf(error)
        const next = afterwards ?? (problem.money === 'not_moved' ? 'pay' : 'unsettled')
        if (next === 'pay') return held.show({ at: 'pay', problem })
        held.show({ at: 'unsettled', problem, isUnanswered: await steps.isUnanswered(held.id) })
      }
    })
  }

  /** If another tab was at work, what it has done comes first. */
  async function lockAndRun(held: ActivePurchase, step: (held: ActivePurchase) => Promise<void>): Promise<void> {
    const { id, signal } = held
    let hasWaited = false
    const onWait = () => {
      hasWaited = true
      held.doing('other_tab')
    }
    const reread = async () => {
      if (signal.aborted) return
      const kept = await readKept(id)
      if (!kept) return held.show({ at: 'gone' })
      page.onChange(kept)
      if (kept.receipt) return held.show({ at: 'done', receipt: kept.receipt })
      return hasWaited ? steps.settle(held) : step(held)
    }
    await withPurchase(id, signal, reread, onWait)
  }

  function shown(): SavedPurchase {
    if (!purchase.value) throw new Error('no purchase is shown')
    return purchase.value
  }

  return {
    purchase,
    stage,
    /** The wallet that is connected. */
    wallet,
    /** What the buyer wants to pay with; null for the first. */
    leg,
    /** How the buyer wants to pay, by its place among the tabs. */
    method,
    /** Whether the gateway takes no payment any more that was made outside of the page. */
    isLookingOver,
    begin,
    open,
    reset,
    settle,
    pay,
    renewQuote,
    showElsewhere,
    look,
    confirmTransaction,
    doubt,
    nothingWasSent,
    remove,
  }
}

function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
