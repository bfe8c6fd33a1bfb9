import type { ConfirmedFiles } from '@svc/api/confirm-files'
import { ServiceError } from '@svc/http-service/service-error'
import type { FilesContext } from '../room.ts'
import { confirmNames } from './confirm-names.ts'
import { type ConfirmRequest, lockerToConfirm, requestedFields } from './confirm-request.ts'
import type { Outcome } from './look-at-file.ts'

type Request = ConfirmRequest<{ receipt_id: string; filenames: string[] }>

/** Answers in the order of the request; a name that is in it twice is confirmed once and answered twice. */
export async function confirmFiles(context: FilesContext, request: Request): Promise<ConfirmedFiles> {
  const { receipt_id, filenames } = requestedFields(request, 'receipt_id', 'filenames')
  const locker = await lockerToConfirm(context, request, receipt_id)
  const { outcomes, reattest } = await confirmNames(context, locker, filenames)
  const results = filenames.map((filename) => result(filename, outcomes.get(filename)!))
  const confirmed = results.filter(({ ok }) => ok).length
  const summary = { total: results.length, confirmed, failed: results.length - confirmed }
  return { receipt_id, locker_id: locker.locker_id, results, summary, reattest }
}

function result(filename: string, outcome: Outcome): ConfirmedFiles['results'][number] {
  if (outcome instanceof ServiceError) {
    return { filename, ok: false, error: outcome.code, message: outcome.message }
  }
  return { filename, ok: true, size_bytes: outcome.size_bytes, content_hash: outcome.content_hash }
}
