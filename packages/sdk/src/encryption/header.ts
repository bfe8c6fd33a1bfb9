// The header of an age file (C2SP age, version 1): the file key, wrapped for each recipient, and a MAC by that key.

import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64nopad } from '@scure/base'
import { asciiBytes, equalBytes, utf8 } from '@svc/protocol/bytes'
import { DecryptionError } from '../errors.ts'
import { damaged } from './damaged.ts'

/** The file key, wrapped for one recipient. */
export interface Stanza {
  /** The type, followed by its arguments. */
  args: readonly string[]
  body: Uint8Array
}

export interface Header {
  stanzas: Stanza[]
  mac: Uint8Array
  /** The bytes that the MAC covers. */
  covered: Uint8Array
  /** The length of the header in bytes. */
  length: number
}

const VERSION_LINE = 'age-encryption.org/v1\n'
const MAC_MARK = '---'
const COLUMNS = 64
/** Each stanza may cost a key exchange, and headers are untrusted input. */
const MAX_STANZAS = 1_000

/** The number of bytes that show whether a file is encrypted. */
export const SNIFFED_BYTES = 34
const ARMORED = '-----BEGIN AGE ENCRYPTED FILE-----'

export function isAgeFile(beginning: Uint8Array): boolean {
  const text = latin1(beginning)
  return text.startsWith(VERSION_LINE) || text.startsWith(ARMORED)
}

export function encodeHeader(fileKey: Uint8Array, stanzas: readonly Stanza[]): Uint8Array {
  const covered = VERSION_LINE + stanzas.map(stanzaText).join('') + MAC_MARK
  return asciiBytes(`${covered} ${base64nopad.encode(macOf(fileKey, asciiBytes(covered)))}\n`)
}

/** The body ends with a line that is not full, even if that line is empty. */
function stanzaText({ args, body }: Stanza): string {
  const text = base64nopad.encode(body)
  const lines = Array.from({ length: Math.floor(text.length / COLUMNS) + 1 }, (_, i) =>
    text.slice(i * COLUMNS, (i + 1) * COLUMNS),
  )
  return `-> ${args.join(' ')}\n${lines.join('\n')}\n`
}

/** Null if the header continues beyond these bytes. */
export function parseHeader(bytes: Uint8Array): Header | null {
  const text = latin1(bytes)
  if (text.startsWith(ARMORED))
    throw new DecryptionError('unsupported', 'the file is in the text form of age (armored): `age -d` reads it')
  if (!text.startsWith(VERSION_LINE)) throw damaged('its first line is wrong')
  // No line of a stanza begins with this mark.
  const mark = text.indexOf(`\n${MAC_MARK}`) + 1
  const end = text.indexOf('\n', mark)
  if (mark === 0 || end === -1) return null
  const [, mac = ''] = /^--- ([^ ]{43})$/.exec(text.slice(mark, end)) ?? []
  return {
    stanzas: parseStanzas(text.slice(VERSION_LINE.length, mark).split('\n').slice(0, -1)),
    mac: fromBase64(mac),
    covered: bytes.slice(0, mark + MAC_MARK.length),
    length: end + 1,
  }
}

function parseStanzas(lines: readonly string[]): Stanza[] {
  const stanzas: Stanza[] = []
  for (let next = 0; next < lines.length; ) {
    const [mark, ...args] = (lines[next++] as string).split(' ')
    if (mark !== '->' || args.length === 0 || !args.every((arg) => /^[!-~]+$/.test(arg)))
      throw damaged('its header has a malformed recipient')
    if (stanzas.length === MAX_STANZAS)
      throw new DecryptionError('unsupported', `the file names more than ${MAX_STANZAS} recipients`)
    const end = bodyEnd(lines, next)
    stanzas.push({ args, body: fromBase64(lines.slice(next, end).join('')) })
    next = end
  }
  if (stanzas.length === 0) throw damaged('its header names no recipient')
  return stanzas
}

/** A body ends with the first line that is not full. */
function bodyEnd(lines: readonly string[], start: number): number {
  for (let i = start; ; i++) {
    const line = lines[i]
    if (line === undefined || line.length > COLUMNS) throw damaged('a line of its header is too long, or missing')
    if (line.length < COLUMNS) return i + 1
  }
}

/** Decodes canonical base64 without padding. */
export function fromBase64(text: string): Uint8Array {
  try {
    const bytes = base64nopad.decode(text)
    if (base64nopad.encode(bytes) === text) return bytes
  } catch {}
  throw damaged('its header is not base64')
}

export function requireMac({ mac, covered }: Header, fileKey: Uint8Array): void {
  if (!equalBytes(mac, macOf(fileKey, covered))) throw damaged('its header was changed')
}

function macOf(fileKey: Uint8Array, covered: Uint8Array): Uint8Array {
  return hmac(sha256, hkdf(sha256, fileKey, undefined, utf8('header'), 32), covered)
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes)
}
