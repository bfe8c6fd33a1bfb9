import type { Body } from '@svc/api/endpoint'
import type { DownloadUrls } from '@svc/api/file-entries'
import type * as files from '@svc/api/files'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import type { FileRow } from '../db/schema.ts'
import { mapInTurns } from './in-turns.ts'
import { findFiles } from './store.ts'
import { downloadUrl, urlMinter } from './urls.ts'

/** In the order asked for, each name once. */
export async function fileUrls(
  context: Context,
  { locker, signer }: LockerCaller,
  { filenames, ttl_min }: Body<typeof files.fileUrls>,
): Promise<DownloadUrls> {
  await limitSigner(context, signer)
  const { locker_id } = locker
  const names = [...new Set(filenames)]
  const known = new Map((await findFiles(context.database.db, locker_id, names)).map((file) => [file.filename, file]))
  const found = names.flatMap((name) => known.get(name) ?? []).filter(hasBytes)
  const minter = urlMinter(context, locker, ttl_min)
  return {
    locker_id,
    urls: await mapInTurns(found, (file) => downloadUrl(minter, file)),
    found: found.length,
    not_found: names.filter((name) => !hasBytes(known.get(name))),
    urls_expire_in_sec: minter.expiresIn,
  }
}

/** So far as is recorded: the provider is not asked. */
export function hasBytes(file: FileRow | undefined): boolean {
  return file !== undefined && file.object_id !== null
}
