// Commitments to pieces (FRC-0069) as their specification tells them: slow, and nobody else's code.

import { hash } from 'node:crypto'
import { writeContentId } from './content-id.ts'

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

/** For pieces whose bytes do not matter: any root will do. */
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
    // As text it comes four times as fast as in a buffer of its own.
    parents.write(hash('sha256', whole.subarray(2 * at, 2 * (at + NODE)), 'binary'), at, 'binary')
    parents[at + NODE - 1]! &= 0x3f
  }
  return parents
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]
}
