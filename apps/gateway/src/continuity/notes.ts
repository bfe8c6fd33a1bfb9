// What is written to the logbook, and what waits because it could not be written.

import type { Database } from '@svc/database/open'
import type { NonceTable } from '@svc/guard/tables'
import type { Log } from '@svc/http-service/log'
import type { ServiceError } from '@svc/http-service/service-error'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Schema } from '../db/schema.ts'
import { newestNote } from './compare.ts'
import type { Entry } from './entries.ts'
import { logbookUnavailable } from './errors.ts'
import { type Logbook, openLogbook } from './logbook.ts'
import { newestReceipts, newestRevocations, newestStatements } from './store.ts'

export interface Notes {
  /** Returns the id of the logbook; null where there is none. Commands need not call it. */
  open(history: string): Promise<string | null>
  /** Durable when it resolves. */
  note(entries: readonly Entry[]): Promise<void>
  /** Notes what was committed before a crash kept it from being noted; and, in a new logbook, what there is to lose. */
  catchUp(): Promise<void>
  keepNonce(nonce: NonceTable): void
  turnTo(history: string): void
  /** Writes what could not be written. */
  tryAgain(): Promise<void>
  isFailing(): boolean
  close(): Promise<void>
}

interface Parts {
  folder: string | null
  database: Database<Schema>
  log: Log
  /** Unix seconds. */
  now: () => number
}

/** A crash may have come between a commit and its note. Nothing waits that long in between. */
const UNNOTED_SECONDS = 60
const MAX_UNNOTED = 10_000

export function createNotes({ folder, database, log, now }: Parts): Notes {
  let logbook: Logbook | null = null
  let isClosed = false
  let isFailing = false
  /** What was committed already. */
  let unnoted: Entry[] = []
  /** The last nonce, where it was not kept. */
  let unkept: NonceTable | null = null
  let hasCaughtUp = false

  async function open(history: string): Promise<string | null> {
    if (folder === null) return null
    logbook = await openLogbook(folder, history)
    return logbook.id
  }

  function failed(error: unknown): ServiceError {
    isFailing = true
    log.error({ err: error }, 'the logbook cannot be written: nothing is signed until it can')
    return logbookUnavailable(error)
  }

  async function note(entries: readonly Entry[]): Promise<void> {
    if (folder === null || entries.length === 0 || isClosed) return
    if (!logbook) await open((await database.server()).history)
    try {
      await logbook?.append(entries, now())
    } catch (error) {
      unnoted.push(...entries)
      throw failed(error)
    }
  }

  return {
    open,
    note,
    async catchUp() {
      if (hasCaughtUp || folder === null) return
      const { db } = database
      const since = ((await newestNote(folder)) ?? UNNOTED_SECONDS) - UNNOTED_SECONDS
      const statements = await newestStatements(db, since, MAX_UNNOTED)
      const receipts = await newestReceipts(db, isoSeconds(since), MAX_UNNOTED)
      const revocations = await newestRevocations(db, since, MAX_UNNOTED)
      await note([...statements.reverse(), ...receipts.reverse(), ...revocations.reverse()])
      hasCaughtUp = true
    },
    keepNonce(nonce) {
      unkept = nonce
      try {
        logbook?.keepNonce(nonce)
        unkept = null
      } catch (error) {
        failed(error)
      }
    },
    turnTo(history) {
      void logbook?.turnTo(history).catch(() => {})
    },
    async tryAgain() {
      if (!isFailing || !logbook) return
      if (unkept) logbook.keepNonce(unkept)
      unkept = null
      const entries = unnoted
      await logbook.append(entries, now())
      unnoted = unnoted.slice(entries.length)
      isFailing = unnoted.length > 0 || unkept !== null
    },
    isFailing: () => isFailing,
    async close() {
      isClosed = true
      const open = logbook
      logbook = null
      await open?.close()
    },
  }
}
