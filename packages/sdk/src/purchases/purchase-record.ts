// What is noted of a purchase, under the name that its buyer gave it.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Journal } from '../journal.ts'
import { type JournalEntry, journalEntry } from '../journal-entry.ts'
import type { PaymentRecord } from './settle.ts'

export interface PurchaseRecord extends PaymentRecord {
  /** As it was ordered first. */
  order: Readonly<Record<string, unknown>>
  /** Of a purchase that is paid for good. */
  receipt: SignedReceipt | null
}

export interface PurchasePlace {
  journal: Journal
  /** Of the service that sells. */
  baseUrl: string
}

export function purchaseEntry({ journal, baseUrl }: PurchasePlace, intent: string): JournalEntry<PurchaseRecord> {
  return journalEntry(journal, `purchase ${baseUrl} ${intent}`)
}

/** Null where nothing was begun under this name. */
export function readPurchase(place: PurchasePlace, intent: string): Promise<PurchaseRecord | null> {
  return purchaseEntry(place, intent).read()
}
