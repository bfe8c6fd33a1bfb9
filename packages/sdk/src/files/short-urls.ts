import { writeByToken } from '@svc/api/transfers'
import { open } from '../calls/call.ts'
import type { Context } from '../context.ts'

export interface UploadTarget {
  upload_url: string
  upload_headers: Record<string, string>
}

/** Uploads to the gateway, or to its provider after a redirect. The body of the answer is ignored. */
export async function writeBytes(
  context: Context,
  { upload_url, upload_headers: headers }: UploadTarget,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  const response = await open(context, writeByToken, { params: { token: tokenOf(upload_url) }, bytes, headers, signal })
  await response.arrayBuffer().catch(() => {})
}

/**
 * The token at the end of a short URL. Clients use their own base URL instead of its host, so that tunnels and proxies
 * work and no answer can send bytes elsewhere.
 */
export function tokenOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
