// Commits that were never answered, because the connection broke: nobody knows whether the database has what was signed.
// What they wrote is noted once the database shows it (T-160).

import type { Db } from '../db/schema.ts'
import { missingOf } from './compare.ts'
import type { Entry } from './entries.ts'

/** A server that has a commit in hand finishes it within this time, whether somebody waits for it or not. */
const FINISHED_SECONDS = 120

interface Unclear {
  add(entries: readonly Entry[]): void
  /** Notes what the database turns out to have. */
  note(): Promise<void>
}

interface Parts {
  db: Db
  note: (entries: readonly Entry[]) => Promise<void>
  /** Unix seconds. */
  now: () => number
}

export function createUnclear({ db, note, now }: Parts): Unclear {
  let unclear: { entry: Entry; until: number }[] = []
  return {
    add(entries) {
      const until = now() + FINISHED_SECONDS
      unclear.push(...entries.map((entry) => ({ entry, until })))
    },
    async note() {
      if (unclear.length === 0) return
      const [looked, at] = [new Set(unclear), now()]
      const entries = [...looked].map(({ entry }) => entry)
      const { statements, payments, revocations } = await missingOf(db, entries)
      const missing = new Set<Entry>([...statements, ...payments, ...revocations])
      await note(entries.filter((entry) => !missing.has(entry)))
      unclear = unclear.filter((each) => !looked.has(each) || (missing.has(each.entry) && at < each.until))
    },
  }
}
