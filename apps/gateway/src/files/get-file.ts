import type { UrlSet } from '@svc/api/file-entries'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import { currentBytes } from './direct-uploads.ts'
import { contentNotFound } from './errors.ts'
import { noSuchFile } from './name-files.ts'
import { statObject } from './objects.ts'
import type { FilesContext } from './room.ts'
import { findFile } from './store.ts'
import { urlMinter, urlPair } from './urls.ts'

/** Fresh URLs of a file, after asking the provider whether its bytes exist (FILE-15). */
export async function getFile(
  context: FilesContext,
  caller: LockerCaller,
  filename: string,
  ttlMinutes: number | undefined,
): Promise<UrlSet> {
  const { locker, signer } = caller
  const { locker_id } = locker
  await limitSigner(context, signer)
  const found = await findFile(context.database.db, locker_id, filename)
  if (!found) throw noSuchFile(context, filename)
  const bytes = await currentBytes(context, locker, found)
  if (!bytes || !(await statObject(context, locker, bytes.key))) throw contentNotFound(locker_id, filename)
  const { file } = bytes
  const minter = urlMinter(context, caller, ttlMinutes)
  return {
    locker_id,
    // The next upload may have another type than the current bytes (AMB-24).
    ...urlPair(minter, filename, file.upload_content_type),
    content_type: file.content_type,
    urls_expire_in_sec: minter.expiresIn,
  }
}
