// What operations work with, built on this one page from the configuration.

import { randomBytes } from 'node:crypto'
import { type Database, openDatabase } from '@svc/database/open'
import { createLog, type Log } from '@svc/http-service/log'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import type { Config, Secrets } from './config.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { openSales, type Sales } from './purchases/sales.ts'

export interface Context {
  config: Config
  database: Database<Schema>
  signers: { statement: Ed25519Signer; publication: Ed25519Signer; shortUrl: Ed25519Signer }
  sales: Sales
  log: Log
  /** Unix milliseconds. */
  now: () => number
  randomBytes: (length: number) => Uint8Array
}

/** Unix seconds. */
export function unixNow(context: Pick<Context, 'now'>): number {
  return Math.floor(context.now() / 1000)
}

/** What tests replace; everything else is the real thing. */
export type Overrides = Partial<Pick<Context, 'now' | 'log' | 'randomBytes'>>

export async function createContext(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<Context> {
  const log = overrides.log ?? createLog(config.log.level)
  const now = overrides.now ?? Date.now
  return {
    config,
    database: await openDatabase<Schema>({ url: secrets.databaseUrl, migrations }),
    signers: {
      statement: ed25519Signer(secrets.statementSeed),
      publication: ed25519Signer(secrets.publicationSeed),
      shortUrl: ed25519Signer(secrets.shortUrlSeed),
    },
    sales: await openSales(config.payments, secrets, now, log),
    log,
    now,
    randomBytes: overrides.randomBytes ?? randomBytes,
  }
}
