import type { ConfirmedFile } from '@svc/api/confirm-files'
import { ServiceError } from '@svc/http-service/service-error'
import type { FilesContext } from '../room.ts'
import { confirmNames } from './confirm-names.ts'
import { type ConfirmRequest, lockerToConfirm, requestedFields } from './confirm-request.ts'

type Request = ConfirmRequest<{ receipt_id: string; filename: string }>

/** Has a file's bytes read and what they are recorded; a file of which that is done answers the same again (AMB-58). */
export async function confirmFile(context: FilesContext, request: Request): Promise<ConfirmedFile> {
  const { receipt_id, filename } = requestedFields(request, 'receipt_id', 'filename')
  const locker = await lockerToConfirm(context, request, receipt_id)
  const { outcomes } = await confirmNames(context, locker, [filename])
  const outcome = outcomes.get(filename)!
  if (outcome instanceof ServiceError) throw outcome
  const { locker_id, size_bytes, content_hash, hash_recorded_at } = outcome
  return { ok: true, receipt_id, locker_id, filename, size_bytes, content_hash, hash_recorded_at }
}
