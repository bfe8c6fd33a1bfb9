import type { Body } from '@svc/api/endpoint'
import type { UrlSet } from '@svc/api/file-entries'
import type * as files from '@svc/api/files'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { addFiles } from './create-files.ts'
import { type NamedFile, nameFiles } from './name-files.ts'
import { urlMinter, urlPair } from './urls.ts'

/** A name that is there keeps its bytes; the type and hash given now are those of its next upload (AMB-24). */
export async function createFile(
  context: Context,
  { locker, signer }: LockerCaller,
  asked: Body<typeof files.createFile>,
): Promise<UrlSet> {
  const [file] = nameFiles(context, [asked], () => ['body']) as [NamedFile] // as many as asked for
  await limitSigner(context, signer)
  await addFiles(context, locker, [file])
  const minter = urlMinter(context, locker, asked.ttl_min)
  return {
    locker_id: locker.locker_id,
    ...urlPair(minter, file.filename, file.contentType),
    urls_expire_in_sec: minter.expiresIn,
  }
}
