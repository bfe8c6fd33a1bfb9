// Commits that were never answered: the connection broke, and nobody knows whether the database has what was signed.

import type { Db } from '../db/schema.ts'
import { missingOf } from './compare.ts'
import type { Entry } from './entries.ts'

/** A server that has a commit in hand finishes it within this time, whether somebody waits for it or not. */
const FINISHED_SECONDS = 120

export interface UnclearCommits {
  add(entries: readonly Entry[]): void
  /** Hands over those that the database turns out to have, and forgets them. Those that it will never have, too. */
  resolve(note: (entries: Entry[]) => Promise<void>): Promise<void>
}

/** `now` in Unix seconds. */
export function createUnclearCommits(db: Db, now: () => number): UnclearCommits {
  let unclear: { entry: Entry; until: number }[] = []
  return {
    add(entries) {
      const until = now() + FINISHED_SECONDS
      unclear.push(...entries.map((entry) => ({ entry, until })))
    },
    async resolve(note) {
      if (unclear.length === 0) return
      const [looked, at] = [new Set(unclear), now()]
      const { statements, payments, revocations } = await missingOf(
        db,
        [...looked].map(({ entry }) => entry),
      )
      const missing = new Set<Entry>([...statements, ...payments, ...revocations])
      await note([...looked].map(({ entry }) => entry).filter((entry) => !missing.has(entry)))
      unclear = unclear.filter((each) => !looked.has(each) || (missing.has(each.entry) && at < each.until))
    },
  }
}
