import { filenameProblem } from '@svc/protocol/filename'
import { type S3Error, s3Error } from '@svc/s3/errors'
import type { Context } from '../../../context.ts'
import type { Locker } from '../../../db/schema.ts'
import { findFile } from '../../../files/store.ts'
import { type FoundBytes, findBytes } from '../../http/answer-bytes.ts'
import type { S3Request } from '../request.ts'

/** A name without bytes is not an object. */
export async function findObject(context: Context, locker: Locker, key: string): Promise<FoundBytes> {
  const file = await findFile(context.database.db, locker.locker_id, key)
  if (!file) throw noSuchKey()
  return findBytes(context, locker, file)
}

export function noSuchKey(): S3Error {
  return s3Error('NoSuchKey', 'no object has this key', 'keys are compared byte for byte')
}

/** Keys are file names and follow their rules. */
export function requireKey({ config }: Context, key: string): void {
  const problem = filenameProblem(key, config.storage.systemPrefix)
  if (problem !== null)
    throw s3Error('InvalidArgument', `the key ${problem}`, 'choose another key that follows the rules for file names')
}

/** Each object has one version, whose id is `null`. */
export function refuseVersion({ query }: Pick<S3Request, 'query'>): void {
  if ((query.get('versionId') ?? 'null') === 'null') return
  throw s3Error('InvalidArgument', 'objects have no versions on this gateway', 'omit versionId')
}
