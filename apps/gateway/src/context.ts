// What operations work with, built on this one page from the configuration.

import { type Database, openDatabase } from '@svc/database/open'
import { createLog, type Log } from '@svc/http-service/log'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import type { Config, Secrets } from './config.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'

export interface Context {
  config: Config
  database: Database<Schema>
  signers: { statement: Ed25519Signer; publication: Ed25519Signer; shortUrl: Ed25519Signer }
  log: Log
  /** Unix milliseconds. */
  now: () => number
}

/** What tests replace; everything else is the real thing. */
export type Overrides = Partial<Pick<Context, 'now' | 'log'>>

export async function createContext(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<Context> {
  return {
    config,
    database: await openDatabase<Schema>({ url: secrets.databaseUrl, migrations }),
    signers: {
      statement: ed25519Signer(secrets.statementSeed),
      publication: ed25519Signer(secrets.publicationSeed),
      shortUrl: ed25519Signer(secrets.shortUrlSeed),
    },
    log: overrides.log ?? createLog(config.log.level),
    now: overrides.now ?? Date.now,
  }
}
