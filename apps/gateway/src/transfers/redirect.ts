// Where a provider takes and gives bytes itself, the client is sent there (SHORT-09).

import { Bytes } from '@svc/http-service/answer'
import type { Redirect } from '@svc/storage/provider'
import { storageError } from '../files/errors.ts'
import { TOKEN_HEADERS } from './file-headers.ts'

/** Null where the bytes come or go through the gateway. */
export async function askTarget(target: Promise<Redirect | null>): Promise<Redirect | null> {
  try {
    return await target
  } catch (error) {
    throw storageError(error)
  }
}

/** 307 keeps the method and the body; the type it must come with is told again (AMB-61). */
export function redirectTo({ url }: Redirect, contentType: string): Bytes {
  const headers = { ...TOKEN_HEADERS, location: url, 'content-type': contentType, 'content-length': '0' }
  return new Bytes(307, headers, null)
}
