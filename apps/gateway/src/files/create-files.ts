import type { Body } from '@svc/api/endpoint'
import type { UrlSet } from '@svc/api/file-entries'
import type * as files from '@svc/api/files'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { requireQuota } from '../lockers/quota.ts'
import { addFiles } from './add-files.ts'
import { type NamedFile, nameFiles, newFile } from './name-files.ts'
import { mapInChunks, urlMinter, urlPair } from './urls.ts'

/** An existing name keeps its bytes; the type and hash of this request apply to its next upload (AMB-24). */
export async function createFile(
  context: Context,
  caller: LockerCaller,
  body: Body<typeof files.createFile>,
): Promise<UrlSet> {
  const [file] = nameFiles(context, [body], () => ['body']) as [NamedFile] // one request, one name
  await requireQuota(context, caller.locker, {})
  await limitSigner(context, caller.signer)
  await context.addFile(newFile(caller.locker, file))
  const minter = urlMinter(context, caller, body.ttl_min)
  return {
    locker_id: caller.locker.locker_id,
    ...urlPair(minter, file.filename, file.contentType),
    urls_expire_in_sec: minter.expiresIn,
  }
}

/** Creates all of the files or none. */
export async function createFiles(context: Context, caller: LockerCaller, body: Body<typeof files.createFiles>) {
  const named = nameFiles(context, body.files, (i) => ['body', 'files', i])
  await requireQuota(context, caller.locker, {})
  await limitSigner(context, caller.signer)
  const files = named.map((file) => newFile(caller.locker, file))
  await context.database.commit((tx) => addFiles(tx, context, [files]))
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
