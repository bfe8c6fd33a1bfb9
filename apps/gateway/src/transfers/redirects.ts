// Where a provider takes and serves bytes itself, the client is redirected to it (SHORT-09). Each function answers null
// where the bytes go through the gateway.

import { Bytes } from '@svc/http-service/answer'
import { toHex } from '@svc/protocol/bytes'
import type { Redirect } from '@svc/storage/provider'
import { type Context, unixNow } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { fileNotFound, storageError } from '../files/errors.ts'
import { type CurrentBytes, currentBytes } from '../files/put-file.ts'
import type { FilesContext } from '../files/room.ts'
import { insertObjects, lockFile, updateFile } from '../files/store.ts'
import { TOKEN_HEADERS } from './file-headers.ts'
import type { OpenedFile } from './open-token.ts'

export async function redirectDownload(
  { providers }: Context,
  { locker, expiresIn }: OpenedFile,
  { file, key }: CurrentBytes,
): Promise<Bytes | null> {
  const contentType = file.content_type
  const download = { contentType, expiresInSeconds: expiresIn }
  const target = await requestTarget(providers.named(locker.provider).downloadTarget(key, download))
  return target && redirectTo(target, contentType)
}

export async function redirectUpload(
  context: FilesContext,
  { locker, file, expiresIn }: OpenedFile,
): Promise<Bytes | null> {
  const contentType = file.upload_content_type
  const id = toHex(context.randomBytes(16))
  const upload = { contentType, expiresInSeconds: expiresIn }
  const target = await requestTarget(context.providers.named(locker.provider).uploadTarget(id, upload))
  if (!target) return null
  // An earlier redirected upload may have arrived: the file takes it before its pending object is replaced.
  await currentBytes(context, locker, file)
  await insertPendingUpload(context, locker, file, id)
  return redirectTo(target, contentType)
}

/** Written before the client gets the address: from then on the object may exist. */
async function insertPendingUpload(
  context: Context,
  { provider }: Locker,
  { locker_id, filename }: FileRow,
  id: string,
) {
  const object = { object_id: id, provider, provider_ref: null, state: 'writing', since: unixNow(context) } as const
  await context.database.db.transaction().execute(async (tx) => {
    if (!(await lockFile(tx, locker_id, filename))) throw fileNotFound(filename)
    await insertObjects(tx, [object])
    await updateFile(tx, locker_id, filename, { upload_object_id: id })
  })
}

async function requestTarget(target: Promise<Redirect | null>): Promise<Redirect | null> {
  try {
    return await target
  } catch (error) {
    throw storageError(error)
  }
}

/** 307 keeps the method and the body. The client must repeat the content type (AMB-61). */
function redirectTo({ url }: Redirect, contentType: string): Bytes {
  const headers = { ...TOKEN_HEADERS, location: url, 'content-type': contentType, 'content-length': '0' }
  return new Bytes(307, headers, null)
}
