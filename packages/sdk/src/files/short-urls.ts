import { writeByToken } from '@svc/api/transfers'
import { open } from '../calls/call.ts'
import type { Context } from '../context.ts'

export interface UploadTarget {
  upload_url: string
  upload_headers: Record<string, string>
}

/** Through the gateway or, where it sends us on, to its provider: what that answers is not ours to read. */
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
 * The token at the end of a short URL. Its host is the gateway's idea of where it is; we go to where we found it, so
 * that tunnels and proxies work and no answer can send bytes elsewhere.
 */
export function tokenOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
