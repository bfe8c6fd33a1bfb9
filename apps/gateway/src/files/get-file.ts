import type { FreshUrls } from '@svc/api/file-entries'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { currentBytes } from './direct-uploads.ts'
import { contentNotFound } from './errors.ts'
import { noSuchFile } from './name-files.ts'
import { statObject } from './objects.ts'
import { findFile } from './store.ts'
import { type UrlMinter, urlMinter, urlPair } from './urls.ts'

/**
 * Fresh URLs of a file, after checking with the provider that its bytes exist (FILE-15). While the database is behind,
 * a revocation may be missing from it, so no write URLs are issued (T-37).
 */
export async function getFile(
  context: Context,
  caller: LockerCaller,
  filename: string,
  ttlMinutes: number | undefined,
): Promise<FreshUrls> {
  const { locker, signer } = caller
  const { locker_id } = locker
  await limitSigner(context, signer)
  const found = await findFile(context.database.db, locker_id, filename)
  if (!found) throw noSuchFile(context, filename)
  const bytes = await currentBytes(context, locker, found)
  if (!bytes || !(await statObject(context, locker, bytes.key))) throw contentNotFound(locker_id, filename)
  const { file } = bytes
  const minter = urlMinter(context, caller, ttlMinutes)
  const isCurrent = await context.continuity.isCurrent()
  return {
    locker_id,
    // The next upload may have a different type than the current bytes (AMB-24).
    ...(isCurrent ? urlPair(minter, filename, file.upload_content_type) : downloadOnly(minter, filename)),
    content_type: file.content_type,
    urls_expire_in_sec: minter.expiresIn,
  }
}

function downloadOnly(minter: UrlMinter, filename: string) {
  return { filename, download_url: minter.url('GET', filename) }
}
