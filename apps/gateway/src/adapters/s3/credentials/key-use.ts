// When a long-lived key was last used, so that its owner can find unused keys. Recorded at most once an hour, outside
// the request.

import { lru } from '@svc/concurrency/caches'
import { type Context, unixNow } from '../../../context.ts'
import type { S3Credential } from './find-credential.ts'
import { isLongLived } from './key-ids.ts'
import { recordLastUse } from './store.ts'

/** Call only for requests with a valid signature: others may only know the id. */
export type RecordKeyUse = (credential: Pick<S3Credential, 'accessKeyId'>) => void

const NOTED_EVERY_SECONDS = 3600
const CACHED = 10_000

export function createKeyUse(context: Pick<Context, 'database' | 'continuity' | 'log' | 'now'>): RecordKeyUse {
  const { database, continuity, log } = context
  const notedAt = lru<string, number>(CACHED)
  return ({ accessKeyId }) => {
    if (!isLongLived(accessKeyId)) return
    const now = unixNow(context)
    const before = now - NOTED_EVERY_SECONDS
    if ((notedAt.get(accessKeyId) ?? before) > before || continuity.status().state !== 'current') return
    notedAt.set(accessKeyId, now)
    database
      .commit((tx) => recordLastUse(tx, accessKeyId, now, before))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'cannot record the last use of an S3 key')
      })
  }
}
