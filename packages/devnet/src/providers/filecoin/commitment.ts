// Commitments to pieces (FRC-0069), written from the specification: slow, and independent of other implementations.

import { hash } from 'node:crypto'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'
const RAW = [0x01, 0x55]
const FR32_SHA256_TRUNC254_PADBINTREE = [0x91, 0x20]
const NODE = 32

/** The content id (PieceCIDv2) of a piece. */
export function commitmentOf(bytes: Uint8Array): string {
  const quads = Math.max(1, Math.ceil(bytes.length / 127))
  const height = 2 + Math.ceil(Math.log2(quads))
  let level = expand(bytes, quads)
  let absent: Buffer = Buffer.alloc(NODE)
  for (let above = 0; above < height; above++) {
    level = parentsOf(level, absent)
    absent = parentsOf(absent, absent)
  }
  return contentIdOf(bytes.length, height, level)
}

/** For pieces whose bytes do not matter: any root works. */
export function contentIdOf(length: number, height: number, root: Uint8Array): string {
  const digest = [...varint(127 * 2 ** (height - 2) - length), height, ...root]
  return writeContentId(Uint8Array.of(...RAW, ...FR32_SHA256_TRUNC254_PADBINTREE, digest.length, ...digest))
}

/** Two zero bits after every 254, so that 127 bytes become 128. */
function expand(bytes: Uint8Array, quads: number): Buffer {
  const padded = new Uint8Array(quads * 127 + 1)
  padded.set(bytes)
  const expanded = Buffer.alloc(quads * 128)
  for (let node = 0; node < quads * 4; node++) {
    const bit = 254 * node
    const [from, shift] = [Math.floor(bit / 8), bit % 8]
    for (let i = 0; i < NODE; i++) {
      const pair = (padded[from + i] as number) | ((padded[from + i + 1] ?? 0) << 8)
      expanded[node * NODE + i] = pair >> shift
    }
    expanded[node * NODE + NODE - 1]! &= 0x3f
  }
  return expanded
}

function parentsOf(level: Buffer, absent: Buffer): Buffer {
  const whole = level.length % (2 * NODE) === 0 ? level : Buffer.concat([level, absent])
  const parents = Buffer.alloc(whole.length / 2)
  for (let at = 0; at < parents.length; at += NODE) {
    // Hashing to text is four times as fast as hashing to a buffer.
    parents.write(hash('sha256', whole.subarray(2 * at, 2 * (at + NODE)), 'binary'), at, 'binary')
    parents[at + NODE - 1]! &= 0x3f
  }
  return parents
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]
}

// Content ids as text and as bytes: base32 in lower case, after a `b`.

/** Content ids as text: `b` and base32 in lower case. */
function writeContentId(bytes: Uint8Array): string {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  bits = bits.padEnd(Math.ceil(bits.length / 5) * 5, '0')
  const letters = bits.match(/.{5}/g) ?? []
  return `b${letters.map((five) => LETTERS[Number.parseInt(five, 2)]).join('')}`
}

/** Null when the text is not a content id. */
export function readContentId(text: string): Uint8Array | null {
  if (!/^b[a-z2-7]+$/.test(text)) return null
  const bits = [...text.slice(1)].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => Number.parseInt(eight, 2))
}
