import type { Body } from '@svc/api/endpoint'
import type * as files from '@svc/api/files'
import { isoSeconds } from '@svc/protocol/evidence'
import { sortedByFilename } from '@svc/protocol/order'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import { type Context, unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { mapInTurns } from './in-turns.ts'
import { type NamedFile, nameFiles } from './name-files.ts'
import { newFile } from './put-file.ts'
import { changeManifest, upsertFiles } from './store.ts'
import { urlMinter, urlPair } from './urls.ts'

/** All or none; one change of the manifest. */
export async function createFiles(
  context: Context,
  { locker, signer }: LockerCaller,
  asked: Body<typeof files.createFiles>,
) {
  const named = nameFiles(context, asked.files, (i) => ['body', 'files', i])
  await limitSigner(context, signer)
  await addFiles(context, locker, named)
  const minter = urlMinter(context, locker, asked.ttl_min)
  return {
    locker_id: locker.locker_id,
    files: await mapInTurns(named, ({ filename, contentType }) => urlPair(minter, filename, contentType)),
    count: named.length,
    urls_expire_in_sec: minter.expiresIn,
  }
}

export async function addFiles(context: Context, locker: Locker, files: readonly NamedFile[]): Promise<void> {
  const { locker_id } = locker
  // One order everywhere: two that add the same names would else wait for each other.
  const rows = sortedByFilename(files.map((file) => newFile(locker, file)))
  await context.database.db.transaction().execute(async (tx) => {
    const added = await upsertFiles(tx, rows)
    if (added > 0) await changeManifest(tx, locker_id, { at: isoSeconds(unixNow(context)), files: added })
  })
}
