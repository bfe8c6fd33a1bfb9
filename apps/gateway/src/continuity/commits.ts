// Commits, each with its note. Where one is never answered, because the connection broke, nobody knows whether the
// database has what was signed; what it wrote is noted once the database shows it (T-160).

import { isDatabaseUnavailable } from '@svc/database/unavailable'
import type { Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import { missingOf } from './compare.ts'
import type { Entry } from './entries.ts'

/** A server that has a commit in hand finishes it within this time, whether somebody waits for it or not. */
const FINISHED_SECONDS = 120

/** What is written is durable in the database and in the logbook when this resolves. */
export type Commit = <Result>(
  work: (tx: Transaction<Schema>) => Promise<Result>,
  writtenBy: (result: Result) => readonly Entry[],
) => Promise<Result>

interface Commits {
  commit: Commit
  /** Notes what the database turns out to have of commits that were not answered. */
  noteUnclear(): Promise<void>
}

interface Parts {
  db: Db
  note: (entries: readonly Entry[]) => Promise<void>
  /** Unix seconds. */
  now: () => number
}

export function createCommits({ db, note, now }: Parts): Commits {
  let unclear: { entry: Entry; until: number }[] = []
  return {
    async commit(work, writtenBy) {
      let written: readonly Entry[] = []
      const committed = db.transaction().execute(async (tx) => {
        const result = await work(tx)
        written = writtenBy(result)
        return result
      })
      const result = await committed.catch((error) => {
        const until = now() + FINISHED_SECONDS
        if (isDatabaseUnavailable(error)) unclear.push(...written.map((entry) => ({ entry, until })))
        throw error
      })
      await note(written)
      return result
    },
    async noteUnclear() {
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
