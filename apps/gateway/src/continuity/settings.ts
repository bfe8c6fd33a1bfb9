// Where the journal is, how long it is kept, and how far clocks may differ.

import { join, resolve } from 'node:path'
import { readInteger, type SettingsReader } from '@svc/service/program/config'
import { besideDatabase, type DatabaseLocation } from '../db/settings.ts'

export interface ContinuityConfig {
  /** Null where no journal is kept: then the chain alone tells whether the database is behind. */
  logbookDir: string | null
  /** How old the oldest backup is that may be restored: what is older goes from the journal. */
  keptDays: number
  /** 0 where the clock is not compared with that of PostgreSQL. */
  clockToleranceSeconds: number
}

/** By default beside the database. That survives a restored database, and not a lost disk: docs/operations.md says so. */
export function readContinuityConfig(settings: SettingsReader, place: DatabaseLocation): ContinuityConfig {
  const text = settings.text('LOGBOOK_DIR')
  return {
    logbookDir: text === 'off' ? null : resolve(text || join(besideDatabase(place), 'logbook')),
    keptDays: readKeptDays(settings, 'logbook'),
    clockToleranceSeconds: settings.integer('CLOCK_TOLERANCE_SECONDS', { min: 0, max: 3600 }),
  }
}

/** For how many days something is kept that nobody needs for longer. */
export function readKeptDays(settings: SettingsReader, what: 'logbook' | 'unpaid_quotes'): number {
  const days = settings.pairs('KEEP_DAYS', ['logbook', 'unpaid_quotes']).get(what)?.at(-1) ?? ''
  return readInteger(settings, `KEEP_DAYS: ${what}`, days, { min: 1, max: 3650 })
}
