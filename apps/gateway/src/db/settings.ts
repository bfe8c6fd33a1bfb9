// The gateway's limits for PostgreSQL connections and timeouts. SQLite has no such limits.

import { dirname } from 'node:path'
import type { PostgresLimits } from '@svc/database/postgres'
import { type Range, readInteger, type SettingsReader } from '@svc/service/program/config'

export interface DatabaseConfig {
  /** Connections for queries, for all processes on this machine together. */
  connections: number
  waitSeconds: number
  statementSeconds: number
}

const MIN_CONNECTIONS_EACH = 4

export function readDatabaseConfig(settings: SettingsReader): DatabaseConfig {
  const limits = settings.pairs('DATABASE_LIMITS', ['connections', 'wait_seconds', 'statement_seconds'])
  const limit = (name: 'connections' | 'wait_seconds' | 'statement_seconds', range: Range) =>
    readInteger(settings, `DATABASE_LIMITS: ${name}`, limits.get(name)?.at(-1) ?? '', range)
  return {
    connections: limit('connections', { min: MIN_CONNECTIONS_EACH, max: 10_000 }),
    waitSeconds: limit('wait_seconds', { min: 1, max: 600 }),
    statementSeconds: limit('statement_seconds', { min: 0, max: 86_400 }),
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

export interface DatabaseLocation {
  databaseUrl: string
  dataDir: string
}

/** The folder for data that belongs to the database but survives its restore. */
export function besideDatabase({ databaseUrl, dataDir }: DatabaseLocation): string {
  return databaseUrl.startsWith('sqlite:') ? dirname(databaseUrl.slice('sqlite:'.length)) : dataDir
}
