// The gateway's own keys behind S3 credentials. They are derived from the key for short URLs, so that replicas agree
// and nothing is stored. The database alone is not sufficient to compute a secret, or to read or forge a session token.

import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { lru } from '@svc/concurrency/caches'
import { fromBase64Url, toBase64Url, utf8 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'

export interface CredentialKeys {
  /** Derives the 40-character secret access key of a description. */
  secretOf(description: string): string
  /** Characters of an access key id that only this gateway can compute from the text. */
  mark(text: string, length: number): string
  /** `salt`: `SALT_BYTES` random bytes. */
  seal(plain: Uint8Array, salt: Uint8Array): string
  /** Null for a token that this gateway did not seal. */
  open(token: string): Uint8Array | null
}

/** Tokens of short URLs are JSON objects, so none of them has this signature. It stays secret. */
const DOMAIN = utf8('svc/s3-credentials/v1')
const VERSION = 1
export const SALT_BYTES = 16
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'
/** Each token has its own key, so the nonce can be constant. */
const NONCE = new Uint8Array(12)

const SECRET_BYTES = 30
export const MAX_TOKEN_CHARACTERS = 4096
/** Cached values depend on the text alone. Access is checked for each request. */
const CACHED = 1000

export function createCredentialKeys(signer: Ed25519Signer): CredentialKeys {
  const master = signer.sign(DOMAIN)
  const [secretKey, markKey, sealKey] = ['secrets', 'access key ids', 'session tokens'].map((use) =>
    createHmac('sha256', master).update(use).digest(),
  ) as [Buffer, Buffer, Buffer]
  const secrets = lru<string, string>(CACHED)
  const marks = lru<string, Buffer>(CACHED)
  const opened = lru<string, Uint8Array>(CACHED)

  function markBytes(text: string): Buffer {
    const known = marks.get(text)
    if (known) return known
    const mark = createHmac('sha256', markKey).update(text).digest()
    marks.set(text, mark)
    return mark
  }

  /** The key depends on the header, so a changed header fails like changed bytes. */
  const tokenKey = (header: Uint8Array) => createHmac('sha256', sealKey).update(header).digest()

  function openSealed(token: string): Uint8Array | null {
    const sealed = token.length <= MAX_TOKEN_CHARACTERS ? fromBase64Url(token) : null
    if (!sealed || sealed[0] !== VERSION || sealed.length < 1 + SALT_BYTES + TAG_BYTES) return null
    const header = sealed.subarray(0, 1 + SALT_BYTES)
    const decipher = createDecipheriv(CIPHER, tokenKey(header), NONCE)
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(sealed.subarray(header.length, -TAG_BYTES)), decipher.final()])
    } catch {
      return null
    }
  }

  return {
    secretOf(description) {
      const known = secrets.get(description)
      if (known !== undefined) return known
      const secret = toBase64Url(createHmac('sha256', secretKey).update(description).digest().subarray(0, SECRET_BYTES))
      secrets.set(description, secret)
      return secret
    },

    mark: (text, length) => keyIdCharacters(markBytes(text).subarray(0, length)),

    seal(plain, salt) {
      const header = Buffer.from([VERSION, ...salt])
      const cipher = createCipheriv(CIPHER, tokenKey(header), NONCE)
      const sealed = [header, cipher.update(plain), cipher.final(), cipher.getAuthTag()]
      return toBase64Url(Buffer.concat(sealed))
    },

    open(token) {
      const known = opened.get(token)
      if (known) return known
      const plain = openSealed(token)
      if (plain) opened.set(token, plain)
      return plain
    },
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** One character per byte, in the alphabet of access key ids: clients check their form. */
export function keyIdCharacters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}
