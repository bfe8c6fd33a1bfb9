// The journal of purchases: all that a client keeps of each, from the order to the receipt. Programs and web pages keep
// the same records, so that a purchase is found and paid once, whichever of them continues it.

import type { Quote } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Journal, type JournalEntry, journalEntry, type ListedJournal } from '../journal.ts'
import type { PaymentRecord } from './payment-record.ts'

export interface PurchaseRecord extends PaymentRecord {
  /** The order as first made. */
  order: Readonly<Record<string, unknown>>
  /** Null until the payment is confirmed. */
  receipt: SignedReceipt | null
  /** Of a purchase that a page shows. */
  shown?: ShownPurchase
}

/** What a buyer was shown to pay before any wallet was asked. */
export interface ShownPurchase {
  started: string
  /** All that could have been paid, the newest last. */
  quotes: Quote[]
  /** Whether it was shown to be paid outside of this client, which cannot see what is done there. */
  isShownElsewhere: boolean
}

export interface PurchasePlace {
  journal: Journal
  /** The address of the selling service. */
  baseUrl: string
}

const PREFIX = 'purchase '

export function purchaseEntry({ journal, baseUrl }: PurchasePlace, intent: string): JournalEntry<PurchaseRecord> {
  return journalEntry(journal, `${PREFIX}${baseUrl} ${intent}`)
}

/** The recorded purchase of this intent; null if there is none. */
export function readPurchase(place: PurchasePlace, intent: string): Promise<PurchaseRecord | null> {
  return purchaseEntry(place, intent).read()
}

/** The record of an order that nobody has begun to pay. */
export function shownOrder(order: PurchaseRecord['order'], shown: ShownPurchase): PurchaseRecord {
  return { payer: '', attempts: [], order, receipt: null, shown }
}

/** What stays of a purchase whose payments are void: a page still shows it. */
export function unpaidAgain({ payer, order, shown }: PurchaseRecord): PurchaseRecord | null {
  return shown ? { payer, attempts: [], order, receipt: null, shown } : null
}

/** The purchases that a page of this browser has shown, with their intents. A damaged record hides no other. */
export async function shownPurchases(
  journal: ListedJournal,
): Promise<{ place: PurchasePlace; intent: string; record: PurchaseRecord }[]> {
  const found = journal.keys().map(async (key) => {
    const [, baseUrl = '', intent = ''] = /^purchase (\S+) (\S+)$/.exec(key) ?? []
    const place = { journal, baseUrl }
    const record = intent === '' ? null : await readPurchase(place, intent).catch(() => null)
    return record?.shown ? [{ place, intent, record }] : []
  })
  return (await Promise.all(found)).flat()
}

/** Forgets a purchase, whatever became of it. */
export async function forgetPurchase(place: PurchasePlace, intent: string): Promise<boolean> {
  const entry = purchaseEntry(place, intent)
  await entry.read()
  return entry.write(null)
}
