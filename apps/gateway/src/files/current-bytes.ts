import type { ObjectKey } from '@svc/storage/provider'
import type { Context } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { storageTrouble } from './objects.ts'
import { putFile } from './put-file.ts'
import type { FilesContext } from './room.ts'

export interface CurrentBytes {
  file: FileRow
  key: ObjectKey
}

/**
 * The object a file points at; null when it points at none. Where a client was sent to upload by itself, its bytes
 * count from when they are first found there.
 */
export async function currentBytes(context: FilesContext, locker: Locker, file: FileRow): Promise<CurrentBytes | null> {
  const current =
    file.upload_object_id === null ? file : await adoptUpload(context, locker, file, file.upload_object_id)
  const { object_id, provider_ref } = current
  return object_id === null ? null : { file: current, key: { id: object_id, ref: provider_ref } }
}

async function adoptUpload(context: FilesContext, locker: Locker, file: FileRow, id: string): Promise<FileRow> {
  const found = await statObject(context, locker, { id, ref: null })
  if (!found) return file
  return putFile(context, locker, {
    filename: file.filename,
    object: { id, size: found.size, ref: null },
    contentType: file.upload_content_type,
    expectedHash: file.upload_expected_hash,
    mayCreate: false,
    isAdoption: true,
  })
}

export async function statObject({ providers }: Context, { provider }: Locker, key: ObjectKey) {
  try {
    return await providers.named(provider).stat(key)
  } catch (error) {
    throw storageTrouble(error)
  }
}
