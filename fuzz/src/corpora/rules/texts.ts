// Untrusted text in every reader of text in our packages.

import {
  fromBase58,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromUtf8,
  toBase58,
  toBase64,
  toBase64Url,
  toHex,
  utf8,
} from '@svc/protocol/bytes'
import { CanonicalJsonError, canonicalJson } from '@svc/protocol/canonical'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { ed25519PublicKeyFromBase58, ed25519PublicKeyFromHex, recoverPersonalSigner } from '@svc/protocol/keys'
import { mayBePublicHost } from '@svc/protocol/public-address'
import { decodeEnvelope } from '@svc/protocol/request-envelope'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey, formatNote, readKey, readNote } from '@svc/protocol/transparency/note'
import { readPolicy } from '@svc/protocol/transparency/policy'
import { readProof } from '@svc/protocol/transparency/proof'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import type { TextCase } from '../cases.ts'

/** Readers that report problems: they only need to return a result. */
const READERS: ((text: string) => unknown)[] = [
  decodeEnvelope,
  ed25519PublicKeyFromBase58,
  ed25519PublicKeyFromHex,
  mayBePublicHost,
  readCheckpoint,
  readPinnedKeys,
  readPolicy,
  readProof,
  (text) => filenameProblem(text, DEFAULT_SYSTEM_PREFIX),
  (text) => recoverPersonalSigner(new Uint8Array(), text),
]

/** Decoders, each with its encoder. */
const DECODERS: [read: (text: string) => Uint8Array | null, write: (bytes: Uint8Array) => string][] = [
  [fromHex, toHex],
  [fromBase64, toBase64],
  [fromBase64Url, toBase64Url],
  [(text) => fromBase58(text, 32), toBase58],
]

export function textProblem({ text }: TextCase): string | null {
  for (const read of READERS) read(text)
  for (const [read, write] of DECODERS) {
    const bytes = read(text)
    if (bytes && write(bytes) !== text) return `a decoder reads it as ${write(bytes)}`
  }
  const [note, key] = [readNote(text), readKey(text)]
  if (typeof note !== 'string' && formatNote(note) !== text) return 'changes when it is written as a note'
  if (typeof key !== 'string' && formatKey(key) !== text) return 'changes when it is written as a key'
  return jsonProblem(text)
}

/** JSON returns the text unchanged; a lone surrogate has no canonical form, and no UTF-8. */
function jsonProblem(text: string): string | null {
  const quoted = JSON.stringify(text)
  if (parseStrictJson(quoted, 4 * quoted.length) !== text) return 'changes in JSON'
  try {
    if (canonicalJson({ [text]: text }) !== `{${quoted}:${quoted}}`) return 'has another canonical form'
    return fromUtf8(utf8(text)) === text ? null : 'changes in UTF-8'
  } catch (error) {
    const isRefused = error instanceof CanonicalJsonError && !text.isWellFormed()
    return isRefused ? null : `has no canonical form: ${error}`
  }
}
