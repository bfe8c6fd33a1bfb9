// The folder of the journal, how long its files are kept, and how far clocks may differ.

import { join, resolve } from 'node:path'
import { readInteger, type SettingsReader } from '@svc/service/program/config'
import { besideDatabase, type DatabaseLocation } from '../db/settings.ts'

export interface ContinuityConfig {
  /** Null without a journal: then only the chain shows whether the database is behind. */
  logbookDir: string | null
  /** The age of the oldest backup that may be restored. Older files of the journal are removed. */
  retentionDays: number
  /** 0: the clock is not compared with PostgreSQL's. */
  clockToleranceSeconds: number
}

/**
 * The default folder is beside the database. It survives a restored database but not a lost disk (docs/operations.md).
 */
export function readContinuityConfig(settings: SettingsReader, place: DatabaseLocation): ContinuityConfig {
  const text = settings.text('LOGBOOK_DIR')
  return {
    logbookDir: text === 'off' ? null : resolve(text || join(besideDatabase(place), 'logbook')),
    retentionDays: readRetentionDays(settings, 'logbook'),
    clockToleranceSeconds: settings.integer('CLOCK_TOLERANCE_SECONDS', { min: 0, max: 3600 }),
  }
}

/** How many days unneeded records are kept. */
export function readRetentionDays(settings: SettingsReader, what: 'logbook' | 'unpaid_quotes'): number {
  const days = settings.pairs('KEEP_DAYS', ['logbook', 'unpaid_quotes']).get(what)?.at(-1) ?? ''
  return readInteger(settings, `KEEP_DAYS: ${what}`, days, { min: 1, max: 3650 })
}
