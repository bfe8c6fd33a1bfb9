import type { Body } from '@svc/api/endpoint'
import type { UrlSet } from '@svc/api/file-entries'
import type * as files from '@svc/api/files'
import { isoSeconds } from '@svc/protocol/evidence'
import { sortedByFilename } from '@svc/protocol/order'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import { type Context, unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { type NamedFile, nameFiles, newFile } from './name-files.ts'
import type { FilesContext } from './room.ts'
import { changeManifest, upsertFiles } from './store.ts'
import { mapInChunks, urlMinter, urlPair } from './urls.ts'

/** An existing name keeps its bytes; the type and hash in this request apply to its next upload (AMB-24). */
export async function createFile(
  context: FilesContext,
  caller: LockerCaller,
  body: Body<typeof files.createFile>,
): Promise<UrlSet> {
  const [file] = nameFiles(context, [body], () => ['body']) as [NamedFile] // one in, one out
  await limitSigner(context, caller.signer)
  await addFiles(context, caller.locker, [file])
  const minter = urlMinter(context, caller, body.ttl_min)
  return {
    locker_id: caller.locker.locker_id,
    ...urlPair(minter, file.filename, file.contentType),
    urls_expire_in_sec: minter.expiresIn,
  }
}

/** Creates all of the files or none. */
export async function createFiles(context: FilesContext, caller: LockerCaller, body: Body<typeof files.createFiles>) {
  const named = nameFiles(context, body.files, (i) => ['body', 'files', i])
  await limitSigner(context, caller.signer)
  await addFiles(context, caller.locker, named)
  const minter = urlMinter(context, caller, body.ttl_min)
  return {
    locker_id: caller.locker.locker_id,
    files: await mapInChunks(named, ({ filename, contentType }) => ({
      ...urlPair(minter, filename, contentType),
      urls_expire_in_sec: minter.expiresIn,
    })),
    count: named.length,
    urls_expire_in_sec: minter.expiresIn,
  }
}

/** The new names are one change of the manifest. */
async function addFiles(context: Context, locker: Locker, files: readonly NamedFile[]): Promise<void> {
  // Sorted, because two requests that lock the same names in different orders would deadlock.
  const rows = sortedByFilename(files.map((file) => newFile(locker, file)))
  await context.database.db.transaction().execute(async (tx) => {
    const added = await upsertFiles(tx, rows)
    if (added > 0) await changeManifest(tx, locker.locker_id, { at: isoSeconds(unixNow(context)), files: added })
  })
}
