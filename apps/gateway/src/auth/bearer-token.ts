/** Node's limit on all headers of a request. */
const MAX_HEADER_CHARS = 16_384

/** The credential of `Authorization: Bearer …` (RFC 6750; the scheme is case-insensitive), else null. */
export function bearerToken(authorization: string | undefined): string | null {
  if (!authorization || authorization.length > MAX_HEADER_CHARS) return null
  return /^bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1] ?? null
}
