// Every error of an upload endpoint names the layer that failed and what to do next (FILE-31, ERR-29, SESS-06). An
// operation may say more; what it leaves out is filled in here.

import type { IncomingMessage } from 'node:http'
import type { UploadAdvice } from '@svc/api/endpoint'
import type { ErrorBody } from '@svc/api/errors'

const UPLOAD = Symbol('upload')
type UploadRequest = IncomingMessage & { [UPLOAD]?: UploadAdvice }

/** For errors that are found before there is an answer, such as a body that breaks off. */
export function markUpload(request: IncomingMessage, upload: UploadAdvice): void {
  const marked: UploadRequest = request
  marked[UPLOAD] = upload
}

export function withUploadDetails(body: ErrorBody, request: IncomingMessage | undefined): ErrorBody {
  const upload = (request as UploadRequest | undefined)?.[UPLOAD]
  return upload ? { ...body, details: { ...adviceFor(body, upload), ...body.details } } : body
}

/** The body did not arrive whole, or never could: another way of uploading may work. */
const LOST_BODY: readonly string[] = ['malformed_request', 'request_timeout', 'body_too_large', 'UPLOAD_TOO_LARGE']

const RECOVERY: Record<string, string> = {
  validation_error: 'correct what detail names, and send the request again',
  RATE_LIMITED: 'wait for as many seconds as Retry-After says, then send the same request again',
  malformed_request: 'send the request again from its beginning, or upload in parts',
  request_timeout: 'send the request again on a faster connection, or upload in parts',
}

function adviceFor({ error, hint }: ErrorBody, { otherwise }: UploadAdvice) {
  return {
    layer: 'gateway',
    recovery_hint: RECOVERY[error] ?? hint ?? 'send the same request again later',
    next_best_method: LOST_BODY.includes(error) ? otherwise : 'the same',
  }
}
