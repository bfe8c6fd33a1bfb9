import type { RedactedBundle } from '@svc/api/proofs'
import type { JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import {
  type FoundShare,
  hideLocker,
  notProven,
  requireShare,
  requireSharedFile,
} from '../../adapters/http/shares/find-share.ts'
import type { Context } from '../../context.ts'
import type { FileRow } from '../../db/schema.ts'
import { readAttested } from '../evidence/read-evidence.ts'
import { bundleOfFiles } from '../evidence/redacted-bundle.ts'
import { isProven } from './proven.ts'

/** Evidence that names neither the receipt nor any other file. Its statement signs the full name of the file. */
export async function proveShared(
  context: Context,
  { share_id, filename }: { share_id: string; filename: string },
  wire: WireRequest,
): Promise<JsonText<RedactedBundle>> {
  const found = await requireShare(context, share_id)
  const file = await requireSharedFile(context, found, filename)
  return bundleOf(context, found, file, wire).catch(hideLocker)
}

async function bundleOf(context: Context, { locker }: FoundShare, file: FileRow, wire: WireRequest) {
  const { record } = await readAttested(context, locker.receipt_id)
  if (!(await isProven(context, record, file))) throw notProven()
  return bundleOfFiles(context, wire, record, [file.filename])
}
