import { chunksOf, type Download, ENCRYPTED_ENDING } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import { written } from '../output/output.ts'
import type { Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { type Decrypt, openDownload } from './encryption.ts'
import { unlessFolder } from './folder-error.ts'

export interface WriteOutOptions {
  isMember: boolean
  decrypt: Decrypt | null
}

/** Writes a file to standard output. Its hash is checked at the end; a wrong hash changes the exit code. */
export async function writeOut(
  session: Session,
  locker: NamedLocker,
  filename: string,
  { isMember, decrypt }: WriteOutOptions,
): Promise<void> {
  const { stdout, signal } = session.host
  const client = await (isMember ? session.lockerClient(locker) : session.client())
  const get = (name: string) =>
    isMember ? client.get(locker, name, { signal }) : client.getPublicly(locker.receipt_id, name, { signal })
  const asked = decrypt ? get(filename).catch(orEncrypted(get, filename)) : get(filename)
  // Only members may list the files.
  const found = await (isMember ? asked.catch(unlessFolder({ client, locker, signal }, filename, folderHint)) : asked)
  const { download, isEncrypted } = await openDownload(found, decrypt)
  if (isEncrypted && stdout.isTTY) {
    await download.stream.cancel()
    throw new Failure(`${filename} is encrypted`, 'add --decrypt, or pipe it to `age -d`')
  }
  for await (const chunk of chunksOf(download.stream)) await written(stdout, chunk)
}

function folderHint(folder: string): string {
  return `\`svc get ${folder}\` downloads its files, \`svc ls ${folder}\` lists them`
}

/** For plaintext, the ending may be left out. */
function orEncrypted(get: (name: string) => Promise<Download>, filename: string) {
  return (error: unknown): Promise<Download> => {
    if (!isGatewayError(error, 'FILE_NOT_FOUND')) throw error
    return get(filename + ENCRYPTED_ENDING).catch(() => {
      throw error
    })
  }
}
