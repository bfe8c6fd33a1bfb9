import type { Bytes } from '@svc/http-service/answer'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { lockerNotFound } from '../auth/callers.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import { fileNotFound } from '../files/errors.ts'
import type { FilesContext } from '../files/room.ts'
import { findFile } from '../files/store.ts'
import { answerBytes, findBytes } from './read-file.ts'
import { PUBLIC_LINK_HEADERS } from './file-headers.ts'

/** Always through the gateway: a link that is shared must not lead to a provider. */
export async function readPublicly(
  context: FilesContext,
  { receipt_id, filename }: { receipt_id: string; filename: string },
  wire: WireRequest,
): Promise<Bytes> {
  const { db } = context.database
  const found = await findReceiptAndLocker(db, receipt_id)
  if (!found) throw new ServiceError('receipt_not_found', 'there is no receipt with this id')
  const { locker } = found
  if (!locker) throw lockerNotFound()
  const file = await findFile(db, locker.locker_id, filename)
  if (!file) throw fileNotFound(filename)
  return answerBytes(context, await findBytes(context, locker, file), wire, PUBLIC_LINK_HEADERS)
}
