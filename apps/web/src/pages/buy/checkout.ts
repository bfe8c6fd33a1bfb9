// The purchase that the page shows: its next step and its outcome.

import { signal } from '@preact/signals'
import type { PaymentLeg } from '@svc/api/quote'
import { oneAtATime, withFreePurchase, withPurchase } from '../../paying/one-at-a-time.ts'
import { type Problem, problemOf, unknownOutcome } from '../../paying/problem.ts'
import { connectedWallet } from '../../wallets/connected.ts'
import type { ConnectedWallet } from '../../wallets/wallet.ts'
import { type ActivePurchase, holdPurchase, type Stage } from './active-purchase.ts'
import { type Order, readSaved, removeSaved, type SavedPurchase, savePurchase } from './saved-purchases.ts'
import * as steps from './steps.ts'

export type Checkout = ReturnType<typeof createCheckout>

export function createCheckout() {
  const purchase = signal<SavedPurchase | null>(null)
  const stage = signal<Stage>({ at: 'choose', problem: null })
  const leg = signal<PaymentLeg | null>(null)
  const method = signal(0)
  const isSearchOver = signal(false)
  const work = oneAtATime()
  let isChecking = false
  /** A counter, so that the purchase opened last is shown, even if an earlier one is read later. */
  let opened = 0

  const page = {
    onChange(next: SavedPurchase) {
      if (purchase.value?.id === next.id) purchase.value = next
    },
    onStage(next: Stage) {
      stage.value = next
    },
  }

  /** Gets a quote for an order, and saves it as a purchase. */
  function begin(order: Order): Promise<void> {
    opened++
    page.onStage({ at: 'working', doing: 'quote' })
    return work.run(async (signal) => {
      try {
        const { client } = await steps.tools()
        const quote = await client.quote(steps.orderOf(order), { signal })
        if (signal.aborted) return
        const started = new Date().toISOString()
        const newPurchase = { id: newId(), started, order, quotes: [quote], isShownElsewhere: false, receipt: null }
        await savePurchase(newPurchase)
        if (signal.aborted) return
        show(newPurchase)
        page.onStage({ at: 'pay', problem: null })
      } catch (error) {
        const problem = await problemOf(error)
        if (!signal.aborted) page.onStage({ at: 'choose', problem })
      }
    })
  }

  function show(next: SavedPurchase | null): void {
    purchase.value = next
    isSearchOver.value = false
  }

  /** Shows a saved purchase at its current step. */
  async function open(id: string): Promise<void> {
    work.stop()
    const mine = ++opened
    show(null)
    page.onStage({ at: 'working', doing: 'checking' })
    const saved = await readSaved(id)
    if (mine !== opened) return
    show(saved)
    if (!saved) return page.onStage({ at: 'gone' })
    if (saved.receipt) return page.onStage({ at: 'done', receipt: saved.receipt })
    await settle()
  }

  function reset(): void {
    work.stop()
    opened++
    show(null)
    page.onStage({ at: 'choose', problem: null })
  }

  const settle = (problem: Problem | null = null) => run((active) => steps.settle(active, problem))

  const pay = (connected: ConnectedWallet, leg: PaymentLeg) => run((active) => steps.pay(active, connected, leg))

  const renewQuote = () =>
    run(async (active) => {
      await steps.renewQuote(active)
      isSearchOver.value = false
    })

  const confirmTransaction = (tx: string, preferred: PaymentLeg | null) => {
    const afterwards = stage.value.at === 'pay' ? 'pay' : 'unsettled'
    return run((active) => steps.confirmTransaction(active, tx, preferred), afterwards)
  }

  /** Saves the flag before the page shows how to pay elsewhere. */
  async function showElsewhere(): Promise<void> {
    if (!shown().isShownElsewhere) await run((active) => active.change({ isShownElsewhere: true }))
    if (purchase.value?.isShownElsewhere) await steps.watchElsewhere(purchase.value)
  }

  /** Checks once for a payment that was made elsewhere. */
  async function checkElsewhere(): Promise<void> {
    const { value: checked } = purchase
    const isIdle = () => purchase.value?.id === checked?.id && stage.value.at === 'pay' && !work.isBusy()
    if (!checked || isChecking || !isIdle()) return
    isChecking = true
    try {
      const { client } = await steps.tools()
      const found = await steps.findElsewhere(checked, client).catch(() => null)
      if (!found || !isIdle()) return
      const { receipt, isOver } = found
      if (receipt) await run((active) => active.finish(receipt))
      // There may be a newer quote by now.
      else isSearchOver.value = isOver && purchase.value?.quotes.length === checked.quotes.length
    } finally {
      isChecking = false
    }
  }

  /** Stops waiting for a payment that was sent. */
  async function stopWaiting(): Promise<void> {
    const { id } = shown()
    work.stop()
    await work.ended()
    const isUnanswered = await steps.isUnanswered(id)
    if (purchase.value?.id !== id || work.isBusy() || stage.value.at !== 'working') return
    page.onStage({ at: 'unsettled', problem: unknownOutcome(), isUnanswered })
  }

  /** Relies on the payer, who has checked the wallet. */
  const nothingWasSent = () =>
    run(async (active) => {
      const { sdk, place } = await steps.tools()
      await sdk.forgetUnansweredPayment(place, active.id)
      await steps.settle(active)
    })

  /** Returns false if another tab works on the purchase. */
  async function remove(id: string): Promise<boolean> {
    if (purchase.value?.id === id) reset()
    await work.ended()
    return withFreePurchase(id, () => removeSaved(id))
  }

  /** Runs a step for the shown purchase. After a failure, the page shows the resulting stage. */
  function run(step: (active: ActivePurchase) => Promise<void>, afterwards?: 'pay' | 'unsettled'): Promise<void> {
    const target = shown()
    return work.run(async (signal) => {
      const active = holdPurchase(target, signal, page)
      try {
        await lockAndRun(active, step)
      } catch (error) {
        const problem = await problemOf(error)
        const next = afterwards ?? (problem.money === 'not_moved' ? 'pay' : 'unsettled')
        if (next === 'pay') return active.show({ at: 'pay', problem })
        active.show({ at: 'unsettled', problem, isUnanswered: await steps.isUnanswered(active.id) })
      }
    })
  }

  /** If another tab was at work, shows its outcome instead. */
  async function lockAndRun(active: ActivePurchase, step: (active: ActivePurchase) => Promise<void>): Promise<void> {
    const { id, signal } = active
    let hasWaited = false
    const onWait = () => {
      hasWaited = true
      active.doing('other_tab')
    }
    const reread = async () => {
      if (signal.aborted) return
      const saved = await readSaved(id)
      if (!saved) return active.show({ at: 'gone' })
      page.onChange(saved)
      if (saved.receipt) return active.show({ at: 'done', receipt: saved.receipt })
      return hasWaited ? steps.settle(active) : step(active)
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
    /** The connected wallet. */
    wallet: connectedWallet,
    /** The leg that the buyer chose; null for the first. */
    leg,
    /** The payment method that the buyer chose, as the index of its tab. */
    method,
    /** Whether the gateway no longer accepts payments from outside of the page. */
    isSearchOver,
    begin,
    open,
    reset,
    settle,
    pay,
    renewQuote,
    showElsewhere,
    checkElsewhere,
    confirmTransaction,
    stopWaiting,
    nothingWasSent,
    remove,
  }
}

function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
