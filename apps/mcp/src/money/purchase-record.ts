import { type PurchaseRecord, readPurchase as readRecord } from '@svc/sdk'
import type { Context } from '../context.ts'

/** What the client notes of a purchase; null where nothing was begun under this name. */
export function readPurchase({ journal }: Context, seller: string, intent: string): Promise<PurchaseRecord | null> {
  return readRecord({ journal, baseUrl: seller }, intent)
}
