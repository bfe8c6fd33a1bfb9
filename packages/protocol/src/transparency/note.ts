// Signed notes: text with lines of signatures under it, and the keys that make them (C2SP signed-note).

import { concat, equalBytes, fromBase64, fromUtf8, toBase64, toHex, utf8 } from '../bytes.ts'
import { ed25519PublicKey, isEd25519SignedBy } from '../keys.ts'
import { sha256Bytes } from '../sha256.ts'

/** The first byte of an encoded key: what its signatures are made over. */
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
  /** With its last newline. */
  text: string
  signatures: NoteSignature[]
}

const KEY_ID_BYTES = 4
/** More than a hundred signatures. */
export const MAX_NOTE_BYTES = 65_536
const DASH = '\u2014'

/** Names may hold no white space and no plus, which end them in keys and notes. */
export function isKeyName(name: string): boolean {
  return name.length > 0 && name.isWellFormed() && !/[\s\p{White_Space}\p{Cc}+]/u.test(name)
}

export function keyId({ name, type, publicKey }: NoteKey): Uint8Array {
  return sha256Bytes(concat(utf8(`${name}\n`), Uint8Array.of(KEY_TYPES[type]), publicKey)).slice(0, KEY_ID_BYTES)
}

/** `name+hash+key`, as people hand keys to each other. */
export function formatKey(key: NoteKey): string {
  return `${key.name}+${toHex(keyId(key))}+${toBase64(concat(Uint8Array.of(KEY_TYPES[key.type]), key.publicKey))}`
}

/** The key, or why it is none. */
export function readKey(text: string): NoteKey | string {
  // Base64 may have the plus too.
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? []
  if (name === undefined || id === undefined || encoded === undefined) return 'a key is written as name+hash+base64'
  if (!isKeyName(name)) return 'the name of the key has white space in it'
  const bytes = fromBase64(encoded)
  const type = (Object.keys(KEY_TYPES) as KeyType[]).find((each) => KEY_TYPES[each] === bytes?.[0])
  if (!bytes || !type || bytes.length !== 33) return 'the key is not an Ed25519 key'
  const key: NoteKey = { name, type, publicKey: bytes.slice(1) }
  if (!ed25519PublicKey(key.publicKey)) return 'the key is not a point of the curve that anybody should sign with'
  return toHex(keyId(key)) === id ? key : 'the hash in the key is not that of its name and bytes'
}

export function formatSignature({ name, keyId: id, signature }: NoteSignature): string {
  return `${DASH} ${name} ${toBase64(concat(id, signature))}\n`
}

export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignature).join('')}`
}

/** The note, or why it is none. No signature is judged. */
export function readNote(note: string | Uint8Array): Note | string {
  const whole = typeof note === 'string' ? note : fromUtf8(note)
  if (whole === null || !whole.isWellFormed()) return 'the note is not UTF-8'
  if (whole.length > MAX_NOTE_BYTES) return `the note has more than ${MAX_NOTE_BYTES} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0009\u000b-\u001f]/.test(whole)) return 'the note has a control character'
  const gap = whole.lastIndexOf('\n\n')
  if (gap < 0) return 'the note has no blank line before its signatures'
  const signatures = readSignatures(whole.slice(gap + 2))
  if (typeof signatures === 'string') return signatures
  return { text: whole.slice(0, gap + 1), signatures }
}

/** Signature lines by themselves, as witnesses answer them; or why they are none. */
export function readSignatures(lines: string): NoteSignature[] | string {
  if (lines === '' || !lines.endsWith('\n')) return 'there is no signature that ends in a newline'
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

/** The signatures of a note that carry the name and id of a key. One that is repeated costs nobody a second check. */
export function signaturesOf({ signatures }: Pick<Note, 'signatures'>, key: NoteKey): NoteSignature[] {
  const id = keyId(key)
  const own = signatures.filter((each) => each.name === key.name && equalBytes(each.keyId, id))
  return own.filter((each, i) => own.findIndex((other) => equalBytes(other.signature, each.signature)) === i)
}

/** A key of type `log` signs the text itself. False without a signature by it, and with one that does not hold. */
export function isSignedBy(note: Note, key: NoteKey): boolean {
  const own = signaturesOf(note, key)
  return own.length > 0 && own.every(({ signature }) => isEd25519SignedBy(key.publicKey, utf8(note.text), signature))
}
