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
