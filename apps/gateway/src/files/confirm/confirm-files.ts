import type { ConfirmedFile, ConfirmedFiles } from '@svc/api/confirm-files'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { confirmNames, type Outcome } from './confirm-names.ts'
import { type ConfirmRequest, lockerToConfirm, requestedFields } from './confirm-request.ts'

/** Hashes a file's bytes and records the hash. A confirmed file returns its recorded answer again (FILE-22). */
export async function confirmFile(
  context: Context,
  request: ConfirmRequest<{ receipt_id: string; filename: string }>,
): Promise<ConfirmedFile> {
  const { receipt_id, filename } = requestedFields(request, 'receipt_id', 'filename')
  const access = await lockerToConfirm(context, request, receipt_id)
  const { outcomes } = await confirmNames(context, access, [filename])
  const outcome = outcomes.get(filename)!
  if (outcome instanceof ServiceError) throw outcome
  const { locker_id, size_bytes, content_hash, hash_recorded_at } = outcome
  return { ok: true, receipt_id, locker_id, filename, size_bytes, content_hash, hash_recorded_at }
}

/** Results are in the order of the request. A repeated name is confirmed once and reported each time. */
export async function confirmFiles(
  context: Context,
  request: ConfirmRequest<{ receipt_id: string; filenames: string[] }>,
): Promise<ConfirmedFiles> {
  const { receipt_id, filenames } = requestedFields(request, 'receipt_id', 'filenames')
  const access = await lockerToConfirm(context, request, receipt_id)
  const { outcomes, reattest } = await confirmNames(context, access, filenames)
  const results = filenames.map((filename) => result(filename, outcomes.get(filename)!))
  const confirmed = results.filter(({ ok }) => ok).length
  const summary = { total: results.length, confirmed, failed: results.length - confirmed }
  return { receipt_id, locker_id: access.locker.locker_id, results, summary, reattest }
}

function result(filename: string, outcome: Outcome): ConfirmedFiles['results'][number] {
  if (outcome instanceof ServiceError) {
    return { filename, ok: false, error: outcome.code, message: outcome.message }
  }
  return { filename, ok: true, size_bytes: outcome.size_bytes, content_hash: outcome.content_hash }
}
