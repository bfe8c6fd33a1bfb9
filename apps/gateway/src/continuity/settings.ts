// Where the logbook is.

import { join, resolve } from 'node:path'
import type { SettingsReader } from '@svc/http-service/config'
import { besideDatabase, type DatabasePlace } from '../db/settings.ts'

export interface ContinuityConfig {
  /** Null where no logbook is kept: then the chain alone tells whether the database is behind. */
  logbookDir: string | null
}

/** By default beside the database. That survives a restored database, and not a lost disk: docs/operations.md says so. */
export function readContinuityConfig(settings: SettingsReader, place: DatabasePlace): ContinuityConfig {
  const text = settings.text('LOGBOOK_DIR')
  if (text === 'off') return { logbookDir: null }
  return { logbookDir: resolve(text || join(besideDatabase(place), 'logbook')) }
}
