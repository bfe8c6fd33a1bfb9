// Every error of an upload endpoint names the layer that failed and the next step (FILE-31, ERR-29, SESS-06). An
// operation may give more details; the rest is filled in here.

import type { UploadAdvice } from '@svc/api/endpoint'
import type { ErrorBody } from '@svc/api/errors'

/** Found by the request line, because many errors occur before routing. */
export function withUploadDetails(body: ErrorBody, upload: UploadAdvice | null): ErrorBody {
  return upload ? { ...body, details: { ...adviceFor(body, upload), ...body.details } } : body
}

/** The body did not arrive completely, or never could: another way of uploading may work. */
const LOST_BODY: readonly string[] = ['malformed_request', 'request_timeout', 'body_too_large', 'UPLOAD_TOO_LARGE']

const RECOVERY: Record<string, string> = {
  validation_error: 'correct the fields in detail, and send the request again',
  RATE_LIMITED: 'wait for the seconds in Retry-After, then send the same request again',
  malformed_request: 'send the request again from its beginning, or upload in parts',
  request_timeout: 'send the request again on a faster connection, or upload in parts',
}

function adviceFor({ error, hint }: ErrorBody, { otherwise, inBody }: UploadAdvice) {
  if (error === 'headers_too_large' && inBody !== undefined) {
    const recovery_hint = 'send the query parameters in the body, which may be much longer; or send fewer at once'
    return { layer: 'gateway', recovery_hint, next_best_method: inBody }
  }
  return {
    layer: 'gateway',
    recovery_hint: RECOVERY[error] ?? hint ?? 'send the same request again later',
    next_best_method: LOST_BODY.includes(error) ? otherwise : 'the same',
  }
}
