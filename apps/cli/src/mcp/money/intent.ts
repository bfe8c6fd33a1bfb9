import { createHash } from 'node:crypto'
import { type PurchaseRecord, readPurchase as readRecord } from '@svc/sdk'
import { type Context, dayOf } from '../context.ts'

export interface Wanted {
  /** The address of the selling service. */
  seller: string
  /** A description of the goods. */
  goods: string
  intent: string | undefined
}

const DAY_MS = 86_400_000
const AGAIN_WITHIN_MS = 3_600_000

/**
 * The name of a purchase. By default it is derived from the goods, the payer and the day, so that a repeated call means
 * the same purchase.
 */
export async function intentOf(context: Context, wanted: Wanted, payer: string): Promise<string> {
  if (wanted.intent !== undefined) return wanted.intent.trim()
  const now = context.now()
  const yesterdays = intentOn(dayOf(now - DAY_MS), wanted, payer)
  return (await isUnderWay(context, wanted.seller, yesterdays)) ? yesterdays : intentOn(dayOf(now), wanted, payer)
}

function intentOn(day: string, { goods }: Wanted, payer: string): string {
  const who = createHash('sha256').update(payer).digest('hex').slice(0, 8)
  return `${day} ${goods} by ${who}`
}

/** A call repeated after midnight must not become a new purchase. */
async function isUnderWay(context: Context, seller: string, intent: string): Promise<boolean> {
  const record = await readPurchase(context, seller, intent)
  if (!record) return false
  return record.receipt === null || Date.parse(record.receipt.confirmed_at) > context.now() - AGAIN_WITHIN_MS
}

/** The journal record of a purchase; null if no purchase has this intent. */
export function readPurchase({ journal }: Context, seller: string, intent: string): Promise<PurchaseRecord | null> {
  return readRecord({ journal, baseUrl: seller }, intent)
}
