import { randomBytes } from 'node:crypto'
import { type Journal, type JournalEntry, journalEntry } from '@svc/sdk'
import { PaymentError } from '@svc/sdk/errors'
import { durationText } from '../output/quantities.ts'
import type { Session } from '../session.ts'

function unpaid(cause: unknown): never {
  throw new PaymentError('not_moved', `the purchase cannot be recorded: ${(cause as Error).message}`, { cause })
}

/** Pays under a new intent, or resumes the unfinished purchase of the same order. */
export async function payOnce<T>(
  { journal: openJournal, output, world }: Session,
  buyer: Buyer,
  order: string,
  pay: (intent: string) => Promise<T>,
): Promise<T> {
  const journal = await openJournal()
  const { intent, since, others } = await beginPurchase(journal, buyer, order, world.now()).catch(unpaid)
  for (const { order, begun_at } of others)
    output.warn(`an earlier purchase is not finished: ${order}, started ${begun_at}. Repeat that order to resume it`)
  if (since !== null)
    output.note(`Resuming the purchase started ${durationText((world.now() - Date.parse(since)) / 1000)} ago.`)
  try {
    const bought = await pay(intent)
    await endPurchase(journal, buyer, intent)
    return bought
  } catch (error) {
    if (error instanceof PaymentError && error.money === 'not_moved') await endPurchase(journal, buyer, intent)
    throw error
  }
}

interface Unfinished {
  /** The name of the purchase in the journal. */
  intent: string
  /** For people, and to tell orders apart. */
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
  /** When the purchase was begun, if it is resumed. */
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

/** Forgets a purchase that is complete or that certainly moved no money. */
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
