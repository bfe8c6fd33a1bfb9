// Where the logbook is.

import { dirname, join, resolve } from 'node:path'
import type { SettingsReader } from '@svc/http-service/config'

export interface ContinuityConfig {
  /** Null where no logbook is kept: then the chain alone tells whether the database is behind. */
  logbookDir: string | null
}

/** By default beside the database. That survives a restored database, and not a lost disk: docs/operations.md says so. */
export function readContinuityConfig(
  settings: SettingsReader,
  { databaseUrl, dataDir }: { databaseUrl: string; dataDir: string },
): ContinuityConfig {
  const text = settings.text('LOGBOOK_DIR')
  if (text === 'off') return { logbookDir: null }
  const beside = databaseUrl.startsWith('sqlite:') ? dirname(databaseUrl.slice('sqlite:'.length)) : dataDir
  return { logbookDir: resolve(text || join(beside, 'logbook')) }
}
