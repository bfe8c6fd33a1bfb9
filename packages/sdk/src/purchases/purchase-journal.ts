// The journal of purchases: everything that a client stores about each one, from the order to the receipt. Programs and
// web pages use the same records, so that a purchase is found and paid once, no matter which of them continues it.

import type { Quote } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Journal, type JournalEntry, journalEntry, type ListedJournal } from '../journal.ts'
import type { PaymentRecord } from './payment-record.ts'

export interface PurchaseRecord extends PaymentRecord {
  /** The order as first made. */
  order: Readonly<Record<string, unknown>>
  /** Null until the payment is confirmed. */
  receipt: SignedReceipt | null
  /** Set for a purchase that a page shows. */
  shown?: ShownPurchase
}

/** What a page showed to the buyer before any wallet was asked. */
export interface ShownPurchase {
  started: string
  /** All quotes that could have been paid, newest last. */
  quotes: Quote[]
  /** Whether it was shown for payment outside of this client, which cannot observe such a payment. */
  isShownElsewhere: boolean
}

export interface PurchaseLocation {
  journal: Journal
  /** The address of the selling service. */
  baseUrl: string
}

const PREFIX = 'purchase '

export function purchaseEntry({ journal, baseUrl }: PurchaseLocation, intent: string): JournalEntry<PurchaseRecord> {
  return journalEntry(journal, `${PREFIX}${baseUrl} ${intent}`)
}

/** The recorded purchase with this intent. Null if there is none. */
export function readPurchase(location: PurchaseLocation, intent: string): Promise<PurchaseRecord | null> {
  return purchaseEntry(location, intent).read()
}

/** The record of an order whose payment has not begun. */
export function shownOrder(order: PurchaseRecord['order'], shown: ShownPurchase): PurchaseRecord {
  return { payer: '', attempts: [], order, receipt: null, shown }
}

/** The remaining record of a purchase whose payments are void, which a page still shows. */
export function withoutPayments({ payer, order, shown }: PurchaseRecord): PurchaseRecord | null {
  return shown ? { payer, attempts: [], order, receipt: null, shown } : null
}

/** The purchases that pages of this browser have shown, with their intents. Damaged records are skipped. */
export async function shownPurchases(
  journal: ListedJournal,
): Promise<{ location: PurchaseLocation; intent: string; record: PurchaseRecord }[]> {
  const found = journal.keys().map(async (key) => {
    const [, baseUrl = '', intent = ''] = /^purchase (\S+) (\S+)$/.exec(key) ?? []
    const location = { journal, baseUrl }
    const record = intent === '' ? null : await readPurchase(location, intent).catch(() => null)
    return record?.shown ? [{ location, intent, record }] : []
  })
  return (await Promise.all(found)).flat()
}

/** Removes a purchase from the journal, whatever its outcome. */
export async function forgetPurchase(location: PurchaseLocation, intent: string): Promise<boolean> {
  const entry = purchaseEntry(location, intent)
  await entry.read()
  return entry.write(null)
}
