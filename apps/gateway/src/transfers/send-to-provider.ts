import type { Bytes } from '@svc/http-service/answer'
import { toHex } from '@svc/protocol/bytes'
import { type Context, unixNow } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { fileNotFound } from '../files/errors.ts'
import { currentBytes } from '../files/put-file.ts'
import type { FilesContext } from '../files/room.ts'
import { insertObjects, lockFile, updateFile } from '../files/store.ts'
import type { OpenedFile } from './open-token.ts'
import { askTarget, redirectTo } from './redirect.ts'

/** Lets a client upload by itself where its provider takes that; null where the bytes come through the gateway. */
export async function sendToProvider(
  context: FilesContext,
  { locker, file, expiresIn }: OpenedFile,
): Promise<Bytes | null> {
  const contentType = file.upload_content_type
  const id = toHex(context.randomBytes(16))
  const upload = { contentType, expiresInSeconds: expiresIn }
  const target = await askTarget(context.providers.named(locker.provider).uploadTarget(id, upload))
  if (!target) return null
  // Of an upload before this one, which may have come and not been looked for yet.
  await currentBytes(context, locker, file)
  await awaitUpload(context, locker, file, id)
  return redirectTo(target, contentType)
}

/** Noted before the address is handed out: from then on there may be an object. */
async function awaitUpload(context: Context, { provider }: Locker, { locker_id, filename }: FileRow, id: string) {
  const object = { object_id: id, provider, provider_ref: null, state: 'writing', since: unixNow(context) } as const
  await context.database.db.transaction().execute(async (tx) => {
    if (!(await lockFile(tx, locker_id, filename))) throw fileNotFound(filename)
    await insertObjects(tx, [object])
    await updateFile(tx, locker_id, filename, { upload_object_id: id })
  })
}
