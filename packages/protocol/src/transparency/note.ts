// Signed notes: text followed by lines of signatures, and the keys that make them (C2SP signed-note).

import { concat, equalBytes, fromBase64, fromUtf8, toBase64, toHex, utf8 } from '../bytes.ts'
import { ed25519PublicKey, isEd25519SignedBy } from '../keys.ts'
import { sha256Bytes } from '../sha256.ts'

/** The first byte of an encoded key, which determines the bytes that it signs. */
const KEY_TYPES = { log: 1, cosigner: 4 } as const
export type KeyType = keyof typeof KEY_TYPES

export interface NoteKey {
  name: string
  type: KeyType
  /** 32 bytes. */
  publicKey: Uint8Array
}

export interface NoteSignature {
  name: string
  keyId: Uint8Array
  signature: Uint8Array
}

export interface Note {
  /** Includes its final newline. */
  text: string
  signatures: NoteSignature[]
}

const KEY_ID_BYTES = 4
/** Enough for more than a hundred signatures. */
export const MAX_NOTE_BYTES = 65_536
const DASH = '\u2014'

/** Names contain no white space and no plus, which end them in notes and keys. */
export function isKeyName(name: string): boolean {
  return name.length > 0 && name.isWellFormed() && !/[\s\p{White_Space}\p{Cc}+]/u.test(name)
}

export function keyId({ name, type, publicKey }: NoteKey): Uint8Array {
  return sha256Bytes(concat(utf8(`${name}\n`), Uint8Array.of(KEY_TYPES[type]), publicKey)).slice(0, KEY_ID_BYTES)
}

/** The text form of a key for exchange: `name+hash+key`. */
export function formatKey(key: NoteKey): string {
  return `${key.name}+${toHex(keyId(key))}+${toBase64(concat(Uint8Array.of(KEY_TYPES[key.type]), key.publicKey))}`
}

/** The key, or its problem. */
export function readKey(text: string): NoteKey | string {
  // Base64 can contain a plus too.
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? []
  if (name === undefined || id === undefined || encoded === undefined) return 'a key is written as name+hash+base64'
  if (!isKeyName(name)) return 'the name of the key contains white space'
  const bytes = fromBase64(encoded)
  const type = (Object.keys(KEY_TYPES) as KeyType[]).find((each) => KEY_TYPES[each] === bytes?.[0])
  if (!bytes || !type || bytes.length !== 33) return 'the key is not an Ed25519 key'
  const key: NoteKey = { name, type, publicKey: bytes.slice(1) }
  if (!ed25519PublicKey(key.publicKey)) return 'the key is not a valid Ed25519 public key'
  return toHex(keyId(key)) === id ? key : 'the hash in the key does not match its name and bytes'
}

export function formatSignature({ name, keyId: id, signature }: NoteSignature): string {
  return `${DASH} ${name} ${toBase64(concat(id, signature))}\n`
}

export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignature).join('')}`
}

/** The note, or its problem. Signatures are not verified. */
export function readNote(note: string | Uint8Array): Note | string {
  const decoded = typeof note === 'string' ? note : fromUtf8(note)
  if (decoded === null || !decoded.isWellFormed()) return 'the note is not UTF-8'
  if (decoded.length > MAX_NOTE_BYTES) return `the note has more than ${MAX_NOTE_BYTES} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this finds control characters
  if (/[\u0000-\u0009\u000b-\u001f]/.test(decoded)) return 'the note has a control character'
  const gap = decoded.lastIndexOf('\n\n')
  if (gap < 0) return 'the note has no blank line before its signatures'
  const signatures = readSignatures(decoded.slice(gap + 2))
  if (typeof signatures === 'string') return signatures
  return { text: decoded.slice(0, gap + 1), signatures }
}

/** Signature lines without a note, as witnesses return them, or their problem. */
export function readSignatures(lines: string): NoteSignature[] | string {
  if (lines === '' || !lines.endsWith('\n')) return 'there is no signature line that ends in a newline'
  const signatures: NoteSignature[] = []
  for (const line of lines.slice(0, -1).split('\n')) {
    const [dash, name, encoded, ...rest] = line.split(' ')
    const bytes = encoded === undefined ? null : fromBase64(encoded)
    const isLine = dash === DASH && name !== undefined && isKeyName(name) && rest.length === 0
    if (!isLine || !bytes || bytes.length <= KEY_ID_BYTES) return 'a signature line is malformed'
    signatures.push({ name, keyId: bytes.slice(0, KEY_ID_BYTES), signature: bytes.slice(KEY_ID_BYTES) })
  }
  return signatures
}

/** The signatures of a note with the name and id of a key. Duplicates are removed, to verify each only once. */
export function signaturesOf({ signatures }: Pick<Note, 'signatures'>, key: NoteKey): NoteSignature[] {
  const id = keyId(key)
  const own = signatures.filter((each) => each.name === key.name && equalBytes(each.keyId, id))
  return own.filter((each, i) => own.findIndex((other) => equalBytes(other.signature, each.signature)) === i)
}

/** Whether a key of type `log`, which signs the text itself, has a signature and all of its signatures are valid. */
export function isSignedBy(note: Note, key: NoteKey): boolean {
  const own = signaturesOf(note, key)
  return own.length > 0 && own.every(({ signature }) => isEd25519SignedBy(key.publicKey, utf8(note.text), signature))
}
