// Entries of the journal, sealed: each is a line that only holders of the key can read, and that is bound to the line
// before it, so that changed, missing and moved lines are detected.

import { createCipheriv, createDecipheriv, createSecretKey, hash, hkdfSync, randomBytes } from 'node:crypto'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

export interface Sealing {
  /** Identifies the key that sealed a file without revealing anything about it. */
  keyId: string
  /** `bond` is that of the previous line, or of the file's head. */
  seal(text: string, bond: string): string
  /** Null for a line that was damaged, moved, or sealed by another key. */
  open(line: string, bond: string): string | null
}

const CIPHER = 'aes-256-gcm'
/** Callers wait while documents with thousands of files are compressed; this takes a quarter of deflate's time. */
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const IV_BYTES = 12
const TAG_BYTES = 16
/** The length in base64url. */
export const BOND_CHARACTERS = 22

export function createSealing(secret: Uint8Array): Sealing {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'svc/journal 1', 32))
  const key = createSecretKey(bytes)
  return {
    keyId: hash('sha256', bytes).slice(0, 16),
    seal(text, bond) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(bond))
      const sealed = Buffer.concat([iv, cipher.update(zstdCompressSync(text, FAST)), cipher.final()])
      return `${sealed.toString('base64url')}.${cipher.getAuthTag().toString('base64url')}`
    },
    open(line, bond) {
      const sealed = Buffer.from(line.slice(0, -BOND_CHARACTERS - 1), 'base64url')
      const tag = Buffer.from(bondAfter(line), 'base64url')
      if (sealed.length < IV_BYTES || tag.length !== TAG_BYTES) return null
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES))
      decipher.setAAD(Buffer.from(bond)).setAuthTag(tag)
      try {
        const text = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES)), decipher.final()])
        return zstdDecompressSync(text).toString()
      } catch {
        return null
      }
    },
  }
}

/** The text that binds the next line to this one. */
export function bondAfter(line: string): string {
  return line.slice(-BOND_CHARACTERS)
}

export function bondOfHead(head: string): string {
  return hash('sha256', head, 'base64url').slice(0, BOND_CHARACTERS)
}
