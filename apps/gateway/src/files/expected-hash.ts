import { withPrefix } from '@svc/protocol/bytes'

/** The hash that an uploader promises, with its prefix and in lower case; null when it is no SHA-256 (AMB-73). */
export function readExpectedHash(text: string): string | null {
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text) ?? []
  return hex === undefined ? null : withPrefix(hex.toLowerCase())
}
