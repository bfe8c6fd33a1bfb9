/**
 * The ETag of an object or a part, in quotes. It has the form of an upload in one part, so clients do not read it as an
 * MD5 of the bytes.
 */
export function formatEtag(sha256Hex: string): string {
  return `"${sha256Hex.slice(0, 32)}-1"`
}
