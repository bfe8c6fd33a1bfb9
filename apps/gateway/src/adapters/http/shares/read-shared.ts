import type { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../../../context.ts'
import { TOKEN_HEADERS } from '../file-headers.ts'
import { answerFile } from '../read-file.ts'
import { hideLocker, requireShare, requireSharedFile } from './find-share.ts'

/** Never redirects: a share must not reveal a provider's address. */
export async function readShared(
  context: Context,
  { share_id, filename }: { share_id: string; filename: string },
  wire: WireRequest,
): Promise<Bytes> {
  const found = await requireShare(context, share_id)
  const file = await requireSharedFile(context, found, filename)
  return answerFile(context, found.locker, file, wire, TOKEN_HEADERS).catch(hideLocker)
}
