// The address of a share that people pass on. Browsers get the page; programs are redirected.

import { Bytes } from '@svc/service/http/answer'
import { TOKEN_HEADERS } from '../../adapters/http/file-headers.ts'
import { isFolder, nameOf, requireShare } from '../../adapters/http/shares/find-share.ts'
import type { Context } from '../../context.ts'

/** Search engines must neither list the address of a share nor follow what it opens. */
export function notIndexed({ status, headers, body }: Bytes): Bytes {
  return new Bytes(status, { ...headers, 'x-robots-tag': 'noindex, nofollow' }, body)
}

/** Redirects to the bytes of a file or to the list of a folder, relative to `/s/{id}`, so under any prefix. */
export async function redirectToShared(context: Context, id: string): Promise<Bytes> {
  const { share } = await requireShare(context, id)
  const file = isFolder(share) ? '' : `/f/${encodeURIComponent(nameOf(share))}`
  const headers = { ...TOKEN_HEADERS, vary: 'accept', location: `../v1/shares/${id}${file}`, 'content-length': '0' }
  return new Bytes(303, headers, null)
}
