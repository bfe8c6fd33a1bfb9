import type { FileDeleted } from '@svc/api/files'
import type { Context } from '../context.ts'
import { removeFile } from '../files/delete-file.ts'
import type { OpenedFile } from './open-token.ts'

export function deleteByToken(context: Context, { locker, file }: OpenedFile): Promise<FileDeleted> {
  return removeFile(context, locker, file.filename)
}
