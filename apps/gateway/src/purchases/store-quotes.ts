// Quotes of one turn of the event loop share a commit, and quotes for one order at one market share a template, which is
// stored before the first of them.

import { lru } from '@svc/concurrency/caches'
import { batch } from '@svc/concurrency/sharing'
import { type Context, unixNow } from '../context.ts'
import { insertQuotes, type NewQuote, type StorableTemplate, storeTemplates } from './store.ts'

/** Durable when it resolves. */
export type StoreQuote = (quote: NewQuote) => Promise<void>

/** A template is stored again after this time, so that a sweep never takes one away that quotes are being made from. */
const STORE_AGAIN_SECONDS = 3600
export const TEMPLATE_KEPT_SECONDS = 86_400

const MAX_KNOWN = 5000

export function createQuoteStore(context: Context): StoreQuote {
  const { commit } = context.database
  /** When this process last stored a template, by its id. */
  const storedAt = lru<string, number>(MAX_KNOWN)

  async function storeNewTemplates(quotes: readonly NewQuote[]): Promise<void> {
    const now = unixNow(context)
    const due = new Map<string, StorableTemplate>()
    for (const { template } of quotes)
      if ((storedAt.get(template.id) ?? 0) <= now - STORE_AGAIN_SECONDS) due.set(template.id, template)
    if (due.size === 0) return
    await commit((tx) => storeTemplates(tx, [...due.values()], now))
    for (const id of due.keys()) storedAt.set(id, now)
  }

  return batch(async (quotes: NewQuote[]) => {
    await storeNewTemplates(quotes)
    await commit((tx) => insertQuotes(tx, quotes))
    return quotes.map(() => undefined)
  })
}
