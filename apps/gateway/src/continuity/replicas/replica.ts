// Replicas on several machines have a journal each, and none can read the others'. So each says in the database on which
// history of it its journal was found complete. What one replica misses then stops all of them, and on another history
// nothing is signed before all journals that were in use have been compared with it (T-37).

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { readFolderId } from '@svc/database/journal/folder'
import type { Database } from '@svc/database/open'
import type { Schema } from '../../db/schema.ts'
import type { JournalPlace } from '../missing.ts'
import type { Noted } from '../noted.ts'
import {
  type AwaitedLogbook,
  awaitedLogbooks,
  deleteAbsentLogbooks,
  deleteLogbook,
  deleteSilentLogbooks,
  setComplete,
  upsertLogbook,
} from './store.ts'

/** What a process says of its journal, and hears of those of others. */
export interface Replica {
  /** `completeOn`: the history of the database that has all entries of the journal; null where some are missing. */
  report(completeOn: string | null): Promise<void>
  /** Those that nothing may be signed without. */
  awaited(history: string): Promise<AwaitedLogbook[]>
  /** After it nothing is noted. */
  leave(): Promise<void>
}

/** It is how replicas learn that the database is behind. */
const WHILE_BEHIND = { whileBehind: true }

const REPORT_MS = 30_000
/** A replica that has not reported for this long is gone. */
const ABSENT_SECONDS = 120
/** A journal that was silent for this long before the database was lost has nothing of what was lost. */
const FORGOTTEN_SECONDS = 600

/** A file of SQLite is used by one machine. */
const ALONE: Replica = { report: async () => {}, awaited: async () => [], leave: async () => {} }

/** `logbookId`: null for a process without a journal, which others need not wait for. */
export function createReplica(
  { db, commit, dialect, server }: Database<Schema, Noted>,
  logbookId: string | null,
): Replica {
  if (dialect === 'sqlite') return ALONE
  const processId = randomUUID()
  let reported: { completeOn: string | null; at: number } | null = null

  async function write(logbook_id: string, complete_on: string | null): Promise<void> {
    await commit(
      (tx) => upsertLogbook(tx, { process_id: processId, logbook_id, host: hostname(), complete_on }),
      WHILE_BEHIND,
    )
    reported = { completeOn: complete_on, at: Date.now() }
  }

  return {
    async report(completeOn) {
      if (logbookId === null) return
      await write(logbookId, completeOn)
      // Also of processes that were killed: their entries are in the same journal.
      if (completeOn !== null) await commit((tx) => setComplete(tx, logbookId, completeOn), WHILE_BEHIND)
    },
    async awaited(history) {
      if (logbookId !== null && reported && Date.now() - reported.at > REPORT_MS)
        await write(logbookId, reported.completeOn)
      const awaited = await awaitedLogbooks(db, history)
      // While one is awaited, it may be the only one that knows what is missing.
      if (awaited.length === 0) await commit((tx) => deleteSilentLogbooks(tx, FORGOTTEN_SECONDS), WHILE_BEHIND)
      return awaited
    },
    async leave() {
      if (!reported) return
      const { history } = await server()
      await commit((tx) => deleteLogbook(tx, processId, history), WHILE_BEHIND)
    },
  }
}

/** Those of others: the caller reads the one at this place. */
export async function findAwaited(
  { db, dialect, server }: Database<Schema, Noted>,
  place: JournalPlace | null,
): Promise<AwaitedLogbook[]> {
  if (dialect === 'sqlite') return []
  const logbookId = place && (await readFolderId(place.folder))
  const awaited = await awaitedLogbooks(db, (await server()).history)
  return awaited.filter((logbook) => logbook.logbookId !== logbookId)
}

/** For people who know that a machine does not come back. Replicas that live have to be healed themselves. */
export async function giveUpAbsent({ commit, dialect, server }: Database<Schema, Noted>): Promise<AwaitedLogbook[]> {
  if (dialect === 'sqlite') return []
  const { history } = await server()
  return commit((tx) => deleteAbsentLogbooks(tx, history, ABSENT_SECONDS), WHILE_BEHIND)
}
