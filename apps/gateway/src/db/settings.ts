// What a gateway may take from PostgreSQL, and how long it waits for it. SQLite has no such limits.

import { dirname } from 'node:path'
import type { PostgresLimits } from '@svc/database/postgres'
import type { SettingsReader } from '@svc/service/program/config'

export interface DatabaseConfig {
  /** For queries, of all processes on this machine together. */
  connections: number
  waitSeconds: number
  statementSeconds: number
}

/** With those of the queue within the 100 that PostgreSQL takes by default, up to 10 processes. */
const CONNECTIONS = 48
const MIN_CONNECTIONS_EACH = 4

export function readDatabaseConfig(settings: SettingsReader): DatabaseConfig {
  return {
    connections: settings.integer('DATABASE_CONNECTIONS', CONNECTIONS, { min: MIN_CONNECTIONS_EACH, max: 10_000 }),
    waitSeconds: settings.integer('DATABASE_WAIT_SECONDS', 10, { min: 1, max: 600 }),
    statementSeconds: settings.integer('DATABASE_STATEMENT_SECONDS', 60, { min: 0, max: 86_400 }),
  }
}

export function postgresLimits(config: DatabaseConfig, processes: number): PostgresLimits {
  const { connections, waitSeconds, statementSeconds } = config
  return {
    connections: Math.max(MIN_CONNECTIONS_EACH, Math.floor(connections / processes)),
    waitSeconds,
    statementSeconds,
  }
}

export interface DatabasePlace {
  databaseUrl: string
  dataDir: string
}

/** The folder for what is kept with the database, and survives when it is restored. */
export function besideDatabase({ databaseUrl, dataDir }: DatabasePlace): string {
  return databaseUrl.startsWith('sqlite:') ? dirname(databaseUrl.slice('sqlite:'.length)) : dataDir
}
