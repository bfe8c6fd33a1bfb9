// Checkpoints: a log's size and root, signed by the log and by its witnesses (C2SP tlog-checkpoint, tlog-cosignature).

import { concat, equalBytes, fromBase64, toBase64, utf8 } from '../bytes.ts'
import { isEd25519SignedBy } from '../keys.ts'
import {
  formatNote,
  isSignedBy,
  keyId,
  type Note,
  type NoteKey,
  type NoteSignature,
  readNote,
  signaturesOf,
} from './note.ts'
import { EMPTY_ROOT, HASH_BYTES, type TreeHead } from './tree.ts'

export interface Checkpoint extends TreeHead {
  origin: string
  note: Note
}

/** Signs with a key that may be external. */
export type Sign = (message: Uint8Array) => Uint8Array | Promise<Uint8Array>

function checkpointText(origin: string, { size, root }: TreeHead): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** Signs with the log's own key. */
export async function signCheckpoint(key: NoteKey, head: TreeHead, sign: Sign): Promise<string> {
  const text = checkpointText(key.name, head)
  return formatNote({ text, signatures: [signatureOf(key, await sign(utf8(text)))] })
}

function signatureOf(key: NoteKey, signature: Uint8Array): NoteSignature {
  return { name: key.name, keyId: keyId(key), signature }
}

const SIZE = /^(?:0|[1-9]\d{0,15})$/

/** The checkpoint, or its problem. Signatures are not verified. */
export function readCheckpoint(bytes: string | Uint8Array): Checkpoint | string {
  const note = readNote(bytes)
  if (typeof note === 'string') return note
  const [origin, size, encoded, ...extensions] = note.text.slice(0, -1).split('\n')
  if (!origin) return 'the checkpoint names no log'
  if (size === undefined || !SIZE.test(size) || !Number.isSafeInteger(Number(size))) return 'the size is not a number'
  const root = encoded === undefined ? null : fromBase64(encoded)
  if (root?.length !== HASH_BYTES) return 'the root is not a hash in base64'
  if (extensions.includes('')) return 'an extension line is empty'
  return { origin, size: Number(size), root, note }
}

/** A checkpoint that its log has signed, and its text. */
export interface SignedCheckpoint extends Checkpoint {
  text: string
}

/** The checkpoint, or its problem if the log with these keys did not sign it. */
export function readSigned(text: string, keys: readonly NoteKey[]): SignedCheckpoint | string {
  const checkpoint = readCheckpoint(text)
  if (typeof checkpoint === 'string') return checkpoint
  const { origin, note } = checkpoint
  if (!keys.some((key) => key.name === origin && isSignedBy(note, key)))
    return 'the checkpoint is not signed by the log'
  if (checkpoint.size === 0 && !equalBytes(checkpoint.root, EMPTY_ROOT)) return 'the root is not that of an empty log'
  return { ...checkpoint, text }
}

export interface Cosignature {
  key: NoteKey
  /** The time of the witness in Unix seconds. */
  time: number
}

const TIME_BYTES = 8
const SIGNATURE_BYTES = 64

export async function cosign(key: NoteKey, { note }: Checkpoint, time: number, sign: Sign): Promise<NoteSignature> {
  return signatureOf(key, concat(timeBytes(time), await sign(cosignedMessage(note.text, time))))
}

/** The valid cosignatures by the given keys, at most one for each key. */
export function cosignaturesOf({ note }: Checkpoint, keys: readonly NoteKey[]): Cosignature[] {
  return keys.flatMap((key) => {
    const found = signaturesOf(note, key).map(({ signature }) => {
      const time = signature.length === TIME_BYTES + SIGNATURE_BYTES ? readTime(signature) : null
      const isValid =
        time !== null &&
        isEd25519SignedBy(key.publicKey, cosignedMessage(note.text, time), signature.subarray(TIME_BYTES))
      return isValid ? { key, time } : null
    })
    const [first] = found.filter((each) => each !== null)
    return first ? [first] : []
  })
}

function cosignedMessage(text: string, time: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`)
}

function timeBytes(time: number): Uint8Array {
  const bytes = new Uint8Array(TIME_BYTES)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(time))
  return bytes
}

/** The last second of the year 9999. */
const MAX_TIME = 253_402_300_799

/** Null for a time that is out of range. */
function readTime(signature: Uint8Array): number | null {
  const time = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0))
  return time <= MAX_TIME ? time : null
}
