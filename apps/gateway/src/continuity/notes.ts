// What is written to the logbook, and what waits because it could not be written.

import type { Database } from '@svc/database/open'
import type { NonceTable } from '@svc/guard/tables'
import type { Log } from '@svc/http-service/log'
import type { ServiceError } from '@svc/http-service/service-error'
import type { Schema } from '../db/schema.ts'
import type { Entry } from './entries.ts'
import { logbookUnavailable } from './errors.ts'
import { type Logbook, openLogbook } from './logbook.ts'

export interface Notes {
  /** Returns the id of the logbook; null where there is none. Commands need not call it. */
  open(history: string): Promise<string | null>
  /** Durable when it resolves. */
  note(entries: readonly Entry[]): Promise<void>
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

export function createNotes({ folder, database, log, now }: Parts): Notes {
  let logbook: Logbook | null = null
  let isClosed = false
  let isFailing = false
  /** What was committed already. */
  let unnoted: Entry[] = []

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

  return {
    open,
    async note(entries) {
      if (folder === null || entries.length === 0 || isClosed) return
      if (!logbook) await open((await database.server()).history)
      try {
        await logbook?.append(entries, now())
      } catch (error) {
        unnoted.push(...entries)
        throw failed(error)
      }
    },
    keepNonce(nonce) {
      try {
        logbook?.keepNonce(nonce)
      } catch (error) {
        failed(error)
      }
    },
    turnTo(history) {
      void logbook?.turnTo(history).catch(() => {})
    },
    async tryAgain() {
      if (!isFailing || !logbook) return
      const entries = unnoted
      await logbook.append(entries, now())
      unnoted = unnoted.slice(entries.length)
      isFailing = unnoted.length > 0
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
