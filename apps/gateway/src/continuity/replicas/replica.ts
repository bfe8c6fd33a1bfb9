// Replicas on several machines have a journal each, and none can read the others'. So each records in the database on
// which history of the database its journal was found complete. A gap in one journal stops all replicas, and on another
// history nothing is signed before every journal in use has been compared with it (T-37).

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { readFolderId } from '@svc/database/journal/folder'
import type { Database } from '@svc/database/open'
import type { Schema } from '../../db/schema.ts'
import type { DocumentId } from '../document-id.ts'
import type { JournalLocation } from '../missing.ts'
import {
  deleteAbsentLogbooks,
  deleteLogbook,
  deleteSilentLogbooks,
  type MissingJournal,
  selectMissingJournals,
  setComplete,
  upsertLogbook,
} from './store.ts'

/** Reports the status of this process's journal and reads the status of the others. */
export interface Replica {
  /** `completeOn`: the history of the database that has all entries of the journal; null if some are missing. */
  report(completeOn: string | null): Promise<void>
  /** The journals that must be compared before anything is signed. */
  missingJournals(history: string): Promise<MissingJournal[]>
  /** Call it last: later reports are ignored. */
  leave(): Promise<void>
}

/** These commits are allowed while the database is behind: through them replicas learn of it. */
const WHILE_BEHIND = { whileBehind: true }

const REPORT_MS = 30_000
/** A replica that has not reported for this long is gone. */
const ABSENT_SECONDS = 120
/** A journal without a sign of life for this long before the database was lost has no lost entries. */
const FORGOTTEN_SECONDS = 600

/** One machine only uses a SQLite file. */
const ALONE: Replica = { report: async () => {}, missingJournals: async () => [], leave: async () => {} }

/** `logbookId`: null for a process without a journal. Others need not wait for it. */
export function createReplica(
  { db, commit, dialect, server }: Database<Schema, DocumentId>,
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
      // Includes processes that were killed: their entries are in the same journal.
      if (completeOn !== null) await commit((tx) => setComplete(tx, logbookId, completeOn), WHILE_BEHIND)
    },
    async missingJournals(history) {
      if (logbookId !== null && reported && Date.now() - reported.at > REPORT_MS)
        await write(logbookId, reported.completeOn)
      const missingJournals = await selectMissingJournals(db, history)
      // A missing journal may be the only one that knows what is missing.
      if (missingJournals.length === 0) await commit((tx) => deleteSilentLogbooks(tx, FORGOTTEN_SECONDS), WHILE_BEHIND)
      return missingJournals
    },
    async leave() {
      if (!reported) return
      const { history } = await server()
      await commit((tx) => deleteLogbook(tx, processId, history), WHILE_BEHIND)
    },
  }
}

/** The missing journals of other machines. The caller reads the journal in its own folder. */
export async function findMissingJournals(
  { db, dialect, server }: Database<Schema, DocumentId>,
  place: JournalLocation | null,
): Promise<MissingJournal[]> {
  if (dialect === 'sqlite') return []
  const logbookId = place && (await readFolderId(place.folder))
  const missingJournals = await selectMissingJournals(db, (await server()).history)
  return missingJournals.filter((logbook) => logbook.logbookId !== logbookId)
}

/** For admins who know that a machine does not come back. Live replicas need their gap repaired instead. */
export async function abandonMissingJournals({
  commit,
  dialect,
  server,
}: Database<Schema, DocumentId>): Promise<MissingJournal[]> {
  if (dialect === 'sqlite') return []
  const { history } = await server()
  return commit((tx) => deleteAbsentLogbooks(tx, history, ABSENT_SECONDS), WHILE_BEHIND)
}
