import { filenameProblem } from '@svc/protocol/filename'
import { type S3Error, s3Error } from '@svc/s3/errors'
import type { Context } from '../../../context.ts'
import type { Locker } from '../../../db/schema.ts'
import { findFile } from '../../../files/store.ts'
import { type FoundBytes, findBytes } from '../../http/answer-bytes.ts'
import type { S3Request } from '../request.ts'

/** A name that awaits its bytes is no object. */
export async function findObject(context: Context, locker: Locker, key: string): Promise<FoundBytes> {
  const file = await findFile(context.database.db, locker.locker_id, key)
  if (!file) throw noSuchKey()
  return findBytes(context, locker, file)
}

export function noSuchKey(): S3Error {
  return s3Error('NoSuchKey', 'there is no object with this key', 'keys are compared byte for byte')
}

/** Keys are names of files, which have rules. */
export function requireKey({ config }: Context, key: string): void {
  const problem = filenameProblem(key, config.storage.systemPrefix)
  if (problem !== null)
    throw s3Error('InvalidArgument', `the key ${problem}`, 'choose another key: names of files have rules')
}

/** There is one version of each object, whose id is `null`. */
export function refuseVersion({ query }: Pick<S3Request, 'query'>): void {
  if ((query.get('versionId') ?? 'null') === 'null') return
  throw s3Error('InvalidArgument', 'there are no versions of objects here', 'leave out versionId')
}
