// Builds the tools from the configuration.

import { openDatabase } from '@svc/database/open'
import { ed25519Signer } from '@svc/protocol/keys'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { createLog } from '@svc/service/program/log'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { openKnownLogs } from './logs/known-logs.ts'

/** Resources to close are added to `opened`, even if a later step fails. */
export async function createContext(
  opened: AsyncDisposableStack,
  config: Config,
  secrets: Secrets,
  overrides: Overrides = {},
): Promise<Context> {
  const log = overrides.log ?? createLog(config.log.level)
  opened.defer(() => log.output.flush())
  const logs = openKnownLogs(config.logsFile, log)
  const database = await openDatabase<Schema>({ url: secrets.databaseUrl, migrations })
  opened.defer(() => database.close())
  return {
    config,
    database,
    key: witnessKey(config, secrets),
    sign: ed25519Signer(secrets.signingSeed).sign,
    logs,
    log,
    now: overrides.now ?? Date.now,
  }
}

export function witnessKey({ name }: Config, { signingSeed }: Secrets): NoteKey {
  return { name, type: 'cosigner', publicKey: ed25519Signer(signingSeed).publicKey }
}
