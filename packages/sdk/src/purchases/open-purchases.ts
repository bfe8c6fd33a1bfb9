// Purchases without a name chosen by the buyer: the same order continues the unfinished purchase.

import { toHex } from '@svc/protocol/bytes'
import { type Journal, type JournalEntry, journalEntry } from '../journal.ts'

export interface Unfinished {
  /** The name of the purchase in the journal. */
  intent: string
  /** A text for people, which also distinguishes orders. */
  order: string
  begun_at: string
}

export interface Buyer {
  /** The address of the selling service. */
  seller: string
  address: string
}

export interface Begun {
  intent: string
  /** When the purchase began, if it is resumed. */
  since: string | null
  /** Other unfinished orders of this buyer. */
  others: Unfinished[]
}

export async function beginPurchase(journal: Journal, buyer: Buyer, order: string, now: number): Promise<Begun> {
  const entry = unfinishedOf(journal, buyer)
  const all = (await entry.read()) ?? []
  const others = all.filter((purchase) => purchase.order !== order)
  const same = all.find((purchase) => purchase.order === order)
  if (same) return { intent: same.intent, since: same.begun_at, others }
  const begun_at = new Date(now).toISOString()
  const intent = `${begun_at.slice(0, 10)}-${toHex(crypto.getRandomValues(new Uint8Array(6)))}`
  if (await entry.write([...all, { intent, order, begun_at }])) return { intent, since: null, others }
  return beginPurchase(journal, buyer, order, now)
}

export async function unfinishedPurchases(journal: Journal, buyer: Buyer): Promise<Unfinished[]> {
  return (await unfinishedOf(journal, buyer).read()) ?? []
}

/** Records a purchase that began with a name, unless its order already has one. */
export function adoptPurchase(journal: Journal, buyer: Buyer, { intent, order, begun_at }: Unfinished): Promise<void> {
  return unfinishedOf(journal, buyer).update((now) => {
    const all = now ?? []
    return all.some((purchase) => purchase.order === order) ? all : [...all, { intent, order, begun_at }]
  })
}

/** Removes a purchase that is complete or that certainly moved no money. */
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
