// What goes out with the bytes of a file. They are a stranger's: the browser must neither guess at them nor run them.

import { inlineDisposition } from './content-disposition.ts'

interface FileFacts {
  filename: string
  contentType: string
  /** With its quotes; null before the hash is recorded. */
  etag: string | null
  size: number
}

/** A short URL opens the file to whoever sees it: it stays in no cache and goes out in no Referer (T-07). */
export const TOKEN_HEADERS = { 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' }

/** Kept, but asked about each time: the name may get other bytes, or be gone. */
export const PUBLIC_LINK_HEADERS = { 'cache-control': 'no-cache' }

/** For the whole file; a part has a length of its own (T-09, ADD-06). */
export function fileHeaders({ filename, contentType, etag, size }: FileFacts): Record<string, string> {
  return {
    'content-type': contentType,
    'content-length': String(size),
    'content-disposition': inlineDisposition(filename),
    'accept-ranges': 'bytes',
    ...(etag !== null && { etag }),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    // Any site may show it, as any site may fetch it.
    'cross-origin-resource-policy': 'cross-origin',
  }
}
