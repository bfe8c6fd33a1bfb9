// The purchases of this browser. They hold ids that lead to receipts, so they can be removed; nothing of them is sent
// but to this gateway. Whoever changes one holds its lock.

import type { Quote } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'

export interface Order {
  units: number
  provider?: string
  extends?: string
}

export interface KeptPurchase {
  /** Also its intent in the journal of payments. */
  id: string
  started: string
  order: Order
  /** All that could have been paid, the newest last. */
  quotes: Quote[]
  /** Whether it was shown to be paid outside of this page, where the page cannot see what is done. */
  isShownElsewhere: boolean
  receipt: SignedReceipt | null
}

const PREFIX = 'svc page purchase '

export function readKept(id: string): KeptPurchase | null {
  return parsed(localStorage.getItem(PREFIX + id))
}

export function keep(purchase: KeptPurchase): void {
  localStorage.setItem(PREFIX + purchase.id, JSON.stringify(purchase))
}

export function removeKept(id: string): void {
  localStorage.removeItem(PREFIX + id)
}

/** The newest first. */
export function allKept(): KeptPurchase[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .flatMap((key) => parsed(localStorage.getItem(key)) ?? [])
    .sort((a, b) => b.started.localeCompare(a.started))
}

function parsed(text: string | null): KeptPurchase | null {
  try {
    const value = JSON.parse(text ?? 'null') as KeptPurchase | null
    return value && typeof value.id === 'string' && value.quotes.length > 0 ? value : null
  } catch {
    return null
  }
}

/**
 * Runs while no other tab works on the purchase. `onWait` is called if one does. Without Web Locks, which browsers have
 * in secure contexts only, the journal of payments alone keeps tabs apart.
 */
export async function withPurchase(
  id: string,
  signal: AbortSignal,
  run: () => Promise<void>,
  onWait: () => void,
): Promise<void> {
  const { locks } = navigator
  if (!locks) return run()
  const name = PREFIX + id
  const isDone = await locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await run()
    return lock !== null
  })
  if (isDone) return
  onWait()
  await locks.request(name, { signal }, run)
}
