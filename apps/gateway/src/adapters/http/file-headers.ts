// The headers sent with the bytes of a file. Clients upload arbitrary bytes: a browser must neither guess their type
// nor run them.

interface FileFacts {
  filename: string
  contentType: string
  /** Includes its quotes. */
  etag: string
  /** Unix milliseconds; null when unknown. */
  modifiedAt: number | null
  size: number
}

/** A short URL is a credential: caches must not store its responses, and it must not appear in a Referer (T-07). */
export const TOKEN_HEADERS = { 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' }

/** Caches revalidate every time, because the file may be replaced or deleted. */
export const PUBLIC_LINK_HEADERS = { 'cache-control': 'no-cache' }

/** Headers of the whole file; a range has its own length (T-09, ADD-06). */
export function fileHeaders({ filename, contentType, etag, modifiedAt, size }: FileFacts): Record<string, string> {
  return {
    'content-type': contentType,
    'content-length': String(size),
    'content-disposition': inlineDisposition(filename),
    'accept-ranges': 'bytes',
    etag,
    ...(modifiedAt !== null && { 'last-modified': new Date(modifiedAt).toUTCString() }),
    'x-content-type-options': 'nosniff',
    'content-security-policy': policyOf(contentType),
    // Any site may fetch the file, so any site may embed it.
    'cross-origin-resource-policy': 'cross-origin',
  }
}

/** A browser plays audio and video in a page that it generates, which must be allowed to load them (ADD-19). */
function policyOf(contentType: string): string {
  const isMedia = /^(audio|video)\//i.test(contentType)
  return `sandbox; default-src 'none'${isMedia ? "; media-src 'self'" : ''}`
}

/**
 * The name under which a browser saves the file, in two forms because old clients read only the first (RFC 6266). It is
 * only the last part of the name: the browser chooses the folder.
 */
export function inlineDisposition(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  return `inline; filename="${asciiFallback(name)}"; filename*=UTF-8''${extendedValue(name)}`
}

/** Replaces the characters that end or escape a quoted string, and "%", which some clients decode. */
function asciiFallback(name: string): string {
  return name.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
}

/** RFC 5987 leaves fewer characters unescaped than a URL does. */
function extendedValue(name: string): string {
  return encodeURIComponent(name).replace(/[*'()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
