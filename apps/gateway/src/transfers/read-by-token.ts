import type { Bytes } from '@svc/http-service/answer'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Context } from '../context.ts'
import type { FilesContext } from '../files/room.ts'
import { answerBytes, type FoundBytes, findBytes } from './read-file.ts'
import { TOKEN_HEADERS } from './file-headers.ts'
import type { OpenedFile } from './open-token.ts'
import { askTarget, redirectTo } from './redirects.ts'

export async function readByToken(
  context: FilesContext,
  { locker, file, expiresIn }: OpenedFile,
  wire: WireRequest,
): Promise<Bytes> {
  const bytes = await findBytes(context, locker, file)
  // An address of the provider's is made for GET alone.
  const target = wire.method === 'HEAD' ? null : await downloadTarget(context, bytes, expiresIn)
  if (target) return redirectTo(target, bytes.file.content_type)
  return answerBytes(context, bytes, wire, TOKEN_HEADERS)
}

function downloadTarget({ providers }: Context, { locker, file, key }: FoundBytes, expiresInSeconds: number) {
  const download = { contentType: file.content_type, expiresInSeconds }
  return askTarget(providers.named(locker.provider).downloadTarget(key, download))
}
