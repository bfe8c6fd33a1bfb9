// The tools that operations work with.

import type { Database } from '@svc/database/open'
import type { Sign } from '@svc/protocol/transparency/checkpoint'
import type { NoteKey } from '@svc/protocol/transparency/note'
import type { Log } from '@svc/service/program/log'
import type { Config } from './config.ts'
import type { Schema } from './db/schema.ts'
import type { KnownLogs } from './logs/known-logs.ts'

export interface Context {
  config: Config
  database: Database<Schema>
  /** The key that signs the cosignatures. */
  key: NoteKey
  sign: Sign
  logs: KnownLogs
  log: Log
  /** Unix milliseconds. */
  now: () => number
}

/** The parts that tests replace; everything else is real. */
export type Overrides = Partial<Pick<Context, 'now' | 'log'>>

/** Unix seconds. */
export function unixNow({ now }: Pick<Context, 'now'>): number {
  return Math.floor(now() / 1000)
}
