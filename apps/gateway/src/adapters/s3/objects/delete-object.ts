import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../../context.ts'
import { removeFile } from '../../../files/delete-file.ts'
import { emptyAnswer } from '../answers.ts'
import type { S3Caller } from '../caller.ts'
import { isFolderKey, removeFolder } from '../folders/folders.ts'
import type { S3Operation } from '../operation.ts'
import { refuseVersion } from './find-object.ts'
import { readDeleteCondition, type WriteCondition } from './write-condition.ts'

/** Succeeds for a missing object. */
export const deleteObject: S3Operation = async (context, request, caller) => {
  refuseVersion(request)
  await removeKey(context, caller, request.key, readDeleteCondition(request.signed.headers))
  return emptyAnswer(204)
}

export async function removeKey(context: Context, caller: S3Caller, key: string, check: WriteCondition): Promise<void> {
  if (isFolderKey(key)) return removeFolder(context, caller, key, check)
  const { locker, credential } = caller
  try {
    await removeFile(context, locker, key, { grant: credential.grant, check })
  } catch (error) {
    const isAbsent = error instanceof ServiceError && error.code === 'FILE_NOT_FOUND'
    if (!isAbsent) throw error
    check(null)
  }
}
