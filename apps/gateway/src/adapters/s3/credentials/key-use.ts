import type { Context } from '../../../context.ts'
import { createUseRecorder } from '../../last-use.ts'
import type { S3Credential } from './find-credential.ts'
import { isLongLived } from './key-ids.ts'
import { recordLastUse } from './store.ts'

/** Call only for requests with a valid signature: others may only know the id. */
export type RecordKeyUse = (credential: Pick<S3Credential, 'accessKeyId'>) => void

export function createKeyUse(context: Pick<Context, 'database' | 'continuity' | 'log' | 'now'>): RecordKeyUse {
  const recordUse = createUseRecorder(context, 'an S3 key', recordLastUse)
  return ({ accessKeyId }) => {
    if (isLongLived(accessKeyId)) recordUse(accessKeyId)
  }
}
