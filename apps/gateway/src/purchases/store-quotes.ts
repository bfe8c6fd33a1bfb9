// Quotes for one order at one market share a template, which is stored before the first of them.

import { lru } from '@svc/concurrency/caches'
import { together } from '@svc/database/commit'
import { type Context, unixNow } from '../context.ts'
import { insertQuotes, type NewQuote, storeTemplate } from './store.ts'

/** Durable when it resolves. */
export type StoreQuote = (quote: NewQuote) => Promise<void>

/** A template is stored again after this time, so that a sweep never takes one away that quotes are being made from. */
const STORE_AGAIN_SECONDS = 3600
export const TEMPLATE_KEPT_SECONDS = 86_400

const MAX_KNOWN = 5000

export function createQuoteStore(context: Context): StoreQuote {
  const { commit } = context.database
  const insert = together(
    commit,
    async (tx, quotes: readonly NewQuote[]) => {
      await insertQuotes(tx, quotes)
      return quotes.map(() => undefined)
    },
    { isOneStatement: true },
  )
  /** When this process last stored a template, by its id. */
  const storedAt = lru<string, number>(MAX_KNOWN)

  return async (quote) => {
    const { template } = quote
    const now = unixNow(context)
    if ((storedAt.get(template.id) ?? 0) <= now - STORE_AGAIN_SECONDS) {
      await commit((tx) => storeTemplate(tx, template, now))
      storedAt.set(template.id, now)
    }
    await insert(quote)
  }
}
