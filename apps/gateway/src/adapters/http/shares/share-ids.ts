// The ids of shares, which open them. The database stores a random seed for each share, and the id is the seed encrypted
// with a key that follows from the key for short URLs. A copy of the database therefore opens nothing, and the id can be
// shown again.

import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { fromBase64Url, fromHex, toBase64Url, toHex, utf8 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'

export interface ShareIds {
  /** Of a new share. Its id does not begin with a hyphen, which command lines read as an option. */
  newSeed(randomBytes: (length: number) => Uint8Array): string
  /** 22 characters of base64url. `seed`: 16 bytes in hex. */
  idOf(seed: string): string
  /** Null for text that has another form. Whether a share has the seed is another question. */
  seedOf(id: string): string | null
}

/** Tokens of short URLs are JSON objects, so none of them has this signature. It stays secret. */
const DOMAIN = utf8('svc/shares/v1')
const SEED_BYTES = 16
const ID_CHARACTERS = 22
/** A seed is random and one block long, so that it needs neither a chaining mode nor a nonce. */
const CIPHER = 'aes-256-ecb'

export function createShareIds(signer: Ed25519Signer): ShareIds {
  const key = createHmac('sha256', signer.sign(DOMAIN)).update('ids').digest()
  function idOf(seed: string): string {
    const cipher = createCipheriv(CIPHER, key, null).setAutoPadding(false)
    const block = fromHex(seed, SEED_BYTES) as Uint8Array // the database has nothing else
    return toBase64Url(Buffer.concat([cipher.update(block), cipher.final()]))
  }
  return {
    newSeed(randomBytes) {
      for (;;) {
        const seed = toHex(randomBytes(SEED_BYTES))
        if (!idOf(seed).startsWith('-')) return seed
      }
    },
    idOf,
    seedOf(id) {
      const block = id.length === ID_CHARACTERS ? fromBase64Url(id) : null
      if (!block) return null
      const decipher = createDecipheriv(CIPHER, key, null).setAutoPadding(false)
      return toHex(Buffer.concat([decipher.update(block), decipher.final()]))
    },
  }
}
