// The transparency log: every statement in the order of its transaction, published in tiles and signed checkpoints.

import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { formatKey } from '@svc/protocol/transparency/note'
import { tilePath } from '@svc/protocol/transparency/tiles'
import { openFolderFiles } from '@svc/storage/local/files'
import type { NamedFiles } from '@svc/storage/named-files'
import { ProviderError } from '@svc/storage/provider'
import { openBucketFiles } from '@svc/storage/s3-bucket/files'
import type { Secrets } from '../../config.ts'
import type { Context } from '../../context.ts'
import { findGap } from './compare.ts'
import { type LogIdentity, openIdentity } from './identity.ts'
import { proveStatement, type TransparencyLog } from './prove-statement.ts'
import { createPublish, type Publish } from './publish.ts'
import { createPublished, type PublishedLog } from './published.ts'
import { createWitnesses, type Witnesses } from './witnesses/witnesses.ts'
import { createWriter, type LogWriter } from './writer.ts'

interface LogState {
  logIdentity: LogIdentity
  /** Where tiles and checkpoint are stored. */
  logFiles: NamedFiles
  publishedLog: PublishedLog
  publishLog: Publish
  witnesses: Witnesses
  logWriter: LogWriter
  transparencyLog: TransparencyLog
}

declare module '../../context.ts' {
  interface Context extends LogState {}
}

export async function openLog(context: Context, secrets: Secrets): Promise<LogState> {
  const { config, database, continuity, log } = context
  const identity = await openIdentity(context, secrets)
  const files = secrets.logBucket ? openBucketFiles(secrets.logBucket) : openFolderFiles(config.transparency.folder)
  const published = createPublished(files, identity.key)
  continuity.watchLog(() => findGap(database.db, published))
  const witnesses = createWitnesses({
    ...context,
    policy: config.transparency.policy,
    readTile: async (tile) => (await files.read(tilePath(tile))) ?? published.coveredTile(tile),
  })
  const publish = createPublish({ ...context, identity, files, published, witnesses })

  /** Evidence is complete without the proof, so an unreadable or damaged log does not delay it. */
  function withoutProof(error: unknown): null {
    if (isDatabaseUnavailable(error)) throw error
    const level = error instanceof ProviderError ? 'warn' : 'error'
    log[level]({ err: error }, 'the log cannot be read: evidence is sent without its proof')
    return null
  }

  return {
    logIdentity: identity,
    logFiles: files,
    publishedLog: published,
    publishLog: publish,
    witnesses,
    logWriter: createWriter(publish, { seconds: config.transparency.checkpointSeconds, log }),
    transparencyLog: {
      key: identity.key,
      listed: [
        { origin: identity.key.name, vkey: formatKey(identity.key) },
        ...identity.ended.map(({ origin, vkey }) => ({ origin, vkey })),
      ],
      checkpoint: async () => (await published.checkpoint())?.text ?? null,
      proof: (digest) => proveStatement({ database, publishedLog: published }, digest).catch(withoutProof),
    },
  }
}
