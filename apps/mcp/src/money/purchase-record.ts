import type { SignedReceipt } from '@svc/protocol/receipt'
import { journalEntry } from '@svc/sdk/journal-entry'
import type { Order } from '@svc/sdk/purchases/quote'
import type { PaymentRecord } from '@svc/sdk/purchases/settle'
import type { Context } from '../context.ts'

/** What the client notes of a purchase. */
export interface PurchaseRecord extends PaymentRecord {
  order: Order
  receipt: SignedReceipt | null
}

/** Null where nothing was begun under this name. */
export function readPurchase({ journal, settings }: Context, intent: string): Promise<PurchaseRecord | null> {
  return journalEntry<PurchaseRecord>(journal, `purchase ${settings.gateway} ${intent}`).read()
}
