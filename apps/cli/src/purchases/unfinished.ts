// Purchases that were begun and whose end was not seen. Whoever orders the same again goes on with the one he has begun.

import { randomBytes } from 'node:crypto'
import { type Journal, type JournalEntry, journalEntry } from '@svc/sdk'

interface Unfinished {
  /** What the purchase is called in the journal. */
  intent: string
  /** For people, and to tell orders apart. */
  order: string
  begun_at: string
}

export interface Buyer {
  /** Address of the service that sells. */
  seller: string
  address: string
}

export interface Begun {
  intent: string
  /** Since when, for one that was begun before. */
  since: string | null
  /** Other orders of this buyer that are not finished. */
  others: Unfinished[]
}

export async function beginPurchase(journal: Journal, buyer: Buyer, order: string, now: number): Promise<Begun> {
  const entry = unfinishedOf(journal, buyer)
  const all = (await entry.read()) ?? []
  const others = all.filter((purchase) => purchase.order !== order)
  const same = all.find((purchase) => purchase.order === order)
  if (same) return { intent: same.intent, since: same.begun_at, others }
  const begun_at = new Date(now).toISOString()
  const intent = `${begun_at.slice(0, 10)}-${randomBytes(6).toString('hex')}`
  if (await entry.write([...all, { intent, order, begun_at }])) return { intent, since: null, others }
  return beginPurchase(journal, buyer, order, now)
}

/** Of a purchase that is done, or that certainly moved no money. */
export async function endPurchase(journal: Journal, buyer: Buyer, intent: string): Promise<void> {
  const entry = unfinishedOf(journal, buyer)
  for (;;) {
    const all = (await entry.read()) ?? []
    const rest = all.filter((purchase) => purchase.intent !== intent)
    if (rest.length === all.length || (await entry.write(rest.length > 0 ? rest : null))) return
  }
}

function unfinishedOf(journal: Journal, { seller, address }: Buyer): JournalEntry<Unfinished[]> {
  return journalEntry(journal, `unfinished purchases ${seller} ${address}`)
}
