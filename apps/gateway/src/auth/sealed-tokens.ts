// Tokens with sealed contents that only this gateway can read or create; nothing is stored. Gateways with the same key
// for short URLs open each other's tokens.

import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'

export interface TokenSealer {
  /** Seals a value that JSON can represent. */
  seal(value: object): string
  /** The sealed value; null for anything that this sealer did not create. */
  open(token: string): unknown
}

const SALT_BYTES = 16
const TAG_BYTES = 16
/** Longer texts are not decoded. */
const MAX_CHARS = 4096
/** Each token has its own key, so that no nonce is used twice under one key. */
const NONCE = Buffer.alloc(12)
const CIPHER = 'aes-256-gcm'

/**
 * `domain` names the kind of token, as in `svc/upload-tokens/v1`: tokens of one kind do not open as another. Tokens of
 * short URLs are JSON objects, so none of them has this signature. It stays secret.
 */
export function createTokenSealer(
  signer: Ed25519Signer,
  domain: string,
  randomBytes: (length: number) => Uint8Array,
): TokenSealer {
  const secret = signer.sign(utf8(domain))
  const keyOf = (salt: Uint8Array) => createHmac('sha256', secret).update(salt).digest()
  return {
    seal(value) {
      const salt = randomBytes(SALT_BYTES)
      const cipher = createCipheriv(CIPHER, keyOf(salt), NONCE)
      const sealed = [cipher.update(utf8(JSON.stringify(value))), cipher.final()]
      return toBase64Url(Buffer.concat([salt, ...sealed, cipher.getAuthTag()]))
    },
    open(token) {
      const bytes = token.length <= MAX_CHARS ? fromBase64Url(token) : null
      if (!bytes || bytes.length < SALT_BYTES + TAG_BYTES) return null
      const decipher = createDecipheriv(CIPHER, keyOf(bytes.subarray(0, SALT_BYTES)), NONCE)
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      const opened = decipher.update(bytes.subarray(SALT_BYTES, -TAG_BYTES))
      try {
        decipher.final()
      } catch {
        return null
      }
      return JSON.parse(fromUtf8(opened)!)
    },
  }
}
