// The transparency log: every statement in the order of its transaction, published in tiles and signed checkpoints.

import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { openFolderFiles } from '@svc/storage/local/files'
import type { NamedFiles } from '@svc/storage/named-files'
import { ProviderError } from '@svc/storage/provider'
import { openBucketFiles } from '@svc/storage/storj/files'
import { formatKey } from '@svc/transparency/note'
import { tilePath } from '@svc/transparency/tiles'
import type { Secrets } from '../config.ts'
import type { Context } from '../context.ts'
import { findGap } from './compare.ts'
import { type LogIdentity, openIdentity } from './identity.ts'
import { proveStatement } from './prove-statement.ts'
import { createPublish, type Publish } from './publish.ts'
import { createPublished, type PublishedLog } from './published.ts'
import type { TransparencyLog } from './transparency-log.ts'
import { createWitnesses, type Witnesses } from './witnesses/witnesses.ts'
import { createWriter, type LogWriter } from './writer.ts'

export interface LogContext extends Context {
  identity: LogIdentity
  /** Where tiles and checkpoint are kept. */
  files: NamedFiles
  published: PublishedLog
  publish: Publish
  witnesses: Witnesses
  writer: LogWriter
  transparencyLog: TransparencyLog
}

export async function createLog(context: Context, secrets: Secrets): Promise<LogContext> {
  const { config, database, continuity, log } = context
  const identity = await openIdentity(context, secrets)
  const files = secrets.logBucket ? openBucketFiles(secrets.logBucket) : openFolderFiles(config.transparency.folder)
  const published = createPublished(files, identity.key)
  continuity.watchLog(() => findGap(database.db, published))
  const witnesses = createWitnesses({
    ...context,
    policy: config.transparency.policy,
    readTile: async (place) => (await files.read(tilePath(place))) ?? published.coveredTile(place),
  })
  const publish = createPublish({ ...context, identity, files, published, witnesses })

  /** Evidence is complete without it, and a log that cannot be read now, or is damaged, does not hold it up. */
  function withoutProof(error: unknown): null {
    if (isDatabaseUnavailable(error)) throw error
    const level = error instanceof ProviderError ? 'warn' : 'error'
    log[level]({ err: error }, 'the log cannot be read: evidence goes without its proof')
    return null
  }

  return {
    ...context,
    identity,
    files,
    published,
    publish,
    witnesses,
    writer: createWriter(publish, { seconds: config.transparency.checkpointSeconds, log }),
    transparencyLog: {
      key: identity.key,
      listed: [
        { origin: identity.key.name, vkey: formatKey(identity.key) },
        ...identity.ended.map(({ origin, vkey }) => ({ origin, vkey })),
      ],
      checkpoint: async () => (await published.checkpoint())?.text ?? null,
      proof: (digest) => proveStatement({ database, published }, digest).catch(withoutProof),
    },
  }
}
