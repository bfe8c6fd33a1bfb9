// Transparency logs, written a second time from the definitions of RFC 6962 and C2SP. Short rather than fast.

import { createHash } from 'node:crypto'
import { keyOf } from './keys.ts'

export type Hash = Buffer

function hash(...parts: Uint8Array[]): Hash {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}

export function leafOf(entry: Uint8Array): Hash {
  return hash(Uint8Array.of(0), entry)
}

/** MTH of RFC 6962, 2.1. */
export function rootOf(entries: readonly Uint8Array[]): Hash {
  if (entries.length === 0) return hash()
  if (entries.length === 1) return leafOf(entries[0] as Uint8Array)
  const k = split(entries.length)
  return hash(Uint8Array.of(1), rootOf(entries.slice(0, k)), rootOf(entries.slice(k)))
}

/** The largest power of two below n. */
function split(n: number): number {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

/** PATH of RFC 6962, 2.1.1. */
export function pathOf(m: number, entries: readonly Uint8Array[]): Hash[] {
  if (entries.length === 1) return []
  const k = split(entries.length)
  const [left, right] = [entries.slice(0, k), entries.slice(k)]
  return m < k ? [...pathOf(m, left), rootOf(right)] : [...pathOf(m - k, right), rootOf(left)]
}

/** PROOF of RFC 6962, 2.1.2. */
export function consistencyOf(m: number, entries: readonly Uint8Array[], isWhole = true): Hash[] {
  if (m === entries.length) return isWhole ? [] : [rootOf(entries)]
  const k = split(entries.length)
  const [left, right] = [entries.slice(0, k), entries.slice(k)]
  if (m <= k) return [...consistencyOf(m, left, isWhole), rootOf(right)]
  return [...consistencyOf(m - k, right, false), rootOf(left)]
}

const TYPES = { log: 1, cosigner: 4 }

export interface NoteKey {
  name: string
  vkey: string
  /** A line under a note. */
  line(message: Uint8Array, before?: Uint8Array): string
}

/** Another `label` makes another key of the same name. */
export function noteKey(name: string, type: keyof typeof TYPES, label = name): NoteKey {
  const key = keyOf(`${type} ${label}`)
  const typed = Buffer.concat([Uint8Array.of(TYPES[type]), Buffer.from(key.hex, 'hex')])
  const id = hash(Buffer.from(`${name}\n`), typed).subarray(0, 4)
  return {
    name,
    vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
    line: (message, before = new Uint8Array()) =>
      `— ${name} ${Buffer.concat([id, before, Buffer.from(key.sign(message), 'hex')]).toString('base64')}\n`,
  }
}

export function headOf(origin: string, entries: readonly Uint8Array[], ...extensions: string[]): string {
  return [origin, entries.length, rootOf(entries).toString('base64'), ...extensions, ''].join('\n')
}

export function signedBy(key: NoteKey, text: string): string {
  return key.line(Buffer.from(text))
}

export function cosignedBy(key: NoteKey, text: string, time: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(time))
  return key.line(Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), bytes)
}

export function noteOf(text: string, ...lines: string[]): string {
  return `${text}\n${lines.join('')}`
}

export function proofText(index: number, hashes: readonly Hash[], checkpoint: string): string {
  const lines = hashes.map((each) => `${each.toString('base64')}\n`)
  return `c2sp.org/tlog-proof@v1\nindex ${index}\n${lines.join('')}\n${checkpoint}`
}
