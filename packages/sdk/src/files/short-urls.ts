import { writeByToken } from '@svc/api/transfers'
import { open } from '../calls/call.ts'
import { readAnswer } from '../calls/read-answer.ts'
import type { Context } from '../context.ts'
import { isGatewayError } from '../errors.ts'

export interface UploadTarget {
  upload_url: string
  upload_headers: Record<string, string>
}

/** Limits for an ignored body, which is read to its end so that the connection can be reused. */
const IGNORED_LIMITS = { maxBytes: 1_048_576, deadlineMs: 10_000 }

/** Uploads to the gateway, or to its provider after a redirect. The body of the answer is ignored. */
export async function writeBytes(
  context: Context,
  { upload_url, upload_headers: headers }: UploadTarget,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  const response = await open(context, writeByToken, { params: { token: tokenOf(upload_url) }, bytes, headers, signal })
  await readAnswer(response, IGNORED_LIMITS).catch(() => {})
}

/** Whether the URL has expired or was revoked. A client that still has access can get a new one. */
export function isUrlInvalid(error: unknown): boolean {
  return isGatewayError(error, 'SHORT_URL_EXPIRED', 'SHORT_URL_INVALID')
}

/**
 * The token at the end of a short URL. Clients use their own base URL instead of its host, so that tunnels and proxies
 * work and no answer can send bytes elsewhere.
 */
export function tokenOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
