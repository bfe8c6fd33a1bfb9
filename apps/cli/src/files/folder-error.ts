// Errors of commands that take only files, for names of folders.

import type { Client, Locker } from '@svc/sdk'
import { GatewayError, InvalidFilename, isGatewayError } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import { shellWord } from '../output/shell-word.ts'

export interface Listing {
  client: Client
  locker: Locker
  signal: AbortSignal
}

/** Throws if the name is that of a folder. `hintFor` shows what works with it. */
export async function rejectFolder(
  { client, locker, signal }: Listing,
  name: string,
  hintFor: (folder: string) => string,
): Promise<void> {
  const folder = `${name.replace(/\/+$/, '')}/`
  for await (const { filename } of client.files(locker, { signal })) {
    if (filename.startsWith(folder)) throw new Failure(`${folder} is a folder`, hintFor(shellWord(folder)))
  }
}

/** Replaces the error about a missing file or an invalid name if the name is that of a folder. */
export function unlessFolder(listing: Listing, name: string, hintFor: (folder: string) => string) {
  return async (error: unknown): Promise<never> => {
    const isInvalid = name.endsWith('/') && (error instanceof InvalidFilename || error instanceof GatewayError)
    if (isInvalid || isGatewayError(error, 'FILE_NOT_FOUND')) await rejectFolder(listing, name, hintFor)
    throw error
  }
}
