import { s3Error } from '@svc/s3/errors'
import { abortSession } from '../../../files/parts/close-session.ts'
import { fileKey } from '../../../files/parts/open-parts.ts'
import { emptyAnswer } from '../answers.ts'
import type { S3Operation } from '../operation.ts'
import { noSuchUpload, requireUpload } from './uploads.ts'

/** Releases the stored parts; parts that are still arriving are rejected. */
export const abortUpload: S3Operation = async (context, request, caller) => {
  const { session, file } = await requireUpload(context, request, caller)
  const outcome = await abortSession(context, session.session_id, caller.credential.grant)
  if (outcome === 'closed') throw noSuchUpload()
  if (outcome === 'finalizing') throw beingCompleted()
  context.partHashes.forget(fileKey(file))
  return emptyAnswer(204)
}

export function beingCompleted() {
  return s3Error('OperationAborted', 'the upload is being completed', 'try again after its completion')
}
