// The purchases of this browser, in the SDK's journal of purchases. They contain ids that lead to receipts, so they can be
// removed; they are sent only to this gateway. A tab that works on a purchase holds its lock.

import type { Quote } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { storageJournal } from '@svc/sdk/journal'
import {
  forgetPurchase,
  type PurchaseLocation,
  type PurchaseRecord,
  purchaseEntry,
  shownOrder,
  shownPurchases,
} from '@svc/sdk/purchase-journal'
import { knownAddress } from '../../signed-client.ts'

export interface Order {
  units: number
  provider?: string
  extends?: string
}

export interface SavedPurchase {
  /** The id, which is also the intent in the journal of purchases. */
  id: string
  started: string
  order: Order
  /** All quotes that could have been paid, the newest last. */
  quotes: Quote[]
  /** Whether the page has shown how to pay elsewhere, where it cannot see the payment. */
  isShownElsewhere: boolean
  receipt: SignedReceipt | null
}

/** Where the purchases of this page are. */
export async function purchaseLocation(): Promise<PurchaseLocation> {
  return { journal: storageJournal(), baseUrl: await knownAddress() }
}

export async function readSaved(id: string): Promise<SavedPurchase | null> {
  const place = await purchaseLocation()
  await adopt(place, id)
  const record = await purchaseEntry(place, id).read()
  // The gateway may have had another address, or may not have reported its address.
  return (record && purchaseOf(id, record)) ?? (await allShown()).get(id) ?? null
}

export async function savePurchase({ id, order, receipt, ...shown }: SavedPurchase): Promise<void> {
  await purchaseEntry(await purchaseLocation(), id).update((now) => {
    const record = now ?? shownOrder({ ...order }, shown)
    return { ...record, shown, receipt: record.receipt ?? receipt }
  })
}

export async function removeSaved(id: string): Promise<void> {
  localStorage.removeItem(NAME_IN_1_1_0 + id)
  const { journal, baseUrl } = await purchaseLocation()
  const shown = await shownPurchases(storageJournal())
  const places = [{ journal, baseUrl }, ...shown.flatMap(({ intent, location }) => (intent === id ? location : []))]
  for (const place of places) await forgetPurchase(place, id)
}

/** All saved purchases, the newest first. */
export async function savedPurchases(): Promise<SavedPurchase[]> {
  const place = await purchaseLocation()
  for (const name of Object.keys(localStorage))
    if (name.startsWith(NAME_IN_1_1_0)) await adopt(place, name.slice(NAME_IN_1_1_0.length))
  return [...(await allShown()).values()].sort((a, b) => b.started.localeCompare(a.started))
}

/** Purchases by id. If one has records under two addresses, a record with a receipt is used. */
async function allShown(): Promise<Map<string, SavedPurchase>> {
  const found = await shownPurchases(storageJournal())
  const saved = found.flatMap(({ intent, record }) => purchaseOf(intent, record) ?? [])
  return new Map(
    saved.sort((a, b) => Number(a.receipt !== null) - Number(b.receipt !== null)).map((one) => [one.id, one]),
  )
}

/** The saved purchase of a record, without the asset of the wallet request, which is not part of the order. */
function purchaseOf(id: string, { shown, order, receipt }: PurchaseRecord): SavedPurchase | null {
  if (!shown) return null
  const { pay_asset: _, ...goods } = order
  return { id, ...shown, order: goods as unknown as Order, receipt } // as `savePurchase` wrote it
}

/** Release 1.1.0 stored shown purchases separately. */
const NAME_IN_1_1_0 = 'svc page purchase '

/**
 * Moves a purchase of 1.1.0 into the journal. A tab of that release may still work on it: what it changes is moved
 * next.
 */
async function adopt(place: PurchaseLocation, id: string): Promise<void> {
  const name = NAME_IN_1_1_0 + id
  const text = localStorage.getItem(name)
  const old = text === null ? null : parsed(text)
  if (!old) return
  const { started, order, isShownElsewhere } = old
  await purchaseEntry(place, id).update((now) => {
    const before = now?.shown
    const quotes = before && before.quotes.length > old.quotes.length ? before.quotes : old.quotes
    const shown = { started, quotes, isShownElsewhere: isShownElsewhere || before?.isShownElsewhere === true }
    return { ...(now ?? shownOrder({ ...order }, shown)), shown, receipt: now?.receipt ?? old.receipt }
  })
  if (localStorage.getItem(name) === text) localStorage.removeItem(name)
}

function parsed(text: string): SavedPurchase | null {
  try {
    const value = JSON.parse(text) as SavedPurchase | null
    return value && typeof value.id === 'string' && value.quotes.length > 0 ? value : null
  } catch {
    return null
  }
}
