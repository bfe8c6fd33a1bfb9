// Keys of logs and witnesses for tests.

import { ed25519Signer } from '../../src/keys.ts'
import { sha256Bytes } from '../../src/sha256.ts'
import type { Sign } from '../../src/transparency/checkpoint.ts'
import type { KeyType, NoteKey } from '../../src/transparency/note.ts'

/** Returns the same key for the same name. */
export function testKey(name: string, type: KeyType): { key: NoteKey; sign: Sign } {
  const signer = ed25519Signer(sha256Bytes(new TextEncoder().encode(`${type} ${name}`)))
  return { key: { name, type, publicKey: signer.publicKey }, sign: signer.sign }
}

/** Throws if a reader returned a problem. */
export function readable<T>(read: T | string): T {
  if (typeof read === 'string') throw new Error(read)
  return read
}
