// The formats of a bundle, written a second time with only a hash function, so that the pack is not the verifier's own
// output. Short rather than fast.

import { createHash } from 'node:crypto'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export interface PackFile {
  filename: string
  size_bytes: number
  content_hash: string
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

export function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`)
  return `{${members.join()}}`
}

/** By code point, which is the order of the bytes in UTF-8. */
export function inOrder<T extends { filename: string }>(files: readonly T[]): T[] {
  return [...files].sort((a, b) => Buffer.compare(Buffer.from(a.filename), Buffer.from(b.filename)))
}

export function leavesOf(files: readonly PackFile[]): string[] {
  return inOrder(files).map((file) => sha256(`${file.filename}:${file.size_bytes}:${file.content_hash}`))
}

export function merkleRoot(files: readonly PackFile[]): string {
  return rootOver(leavesOf(files))
}

export function rootOver(leaves: readonly string[]): string {
  let level = leaves
  while (level.length > 1) level = levelAbove(level)
  return level[0] as string
}

/** A last node without a partner pairs with itself. */
export function levelAbove(level: readonly string[]): string[] {
  return level.flatMap((node, i) => (i % 2 === 0 ? [sha256(node + (level[i + 1] ?? node))] : []))
}

export function proofOf(files: readonly PackFile[], index: number) {
  return proofIn(leavesOf(files), index)
}

export function proofIn(leaves: readonly string[], index: number): { hash: string; position: string }[] {
  const steps = []
  let at = index
  for (let level = leaves; level.length > 1; level = levelAbove(level)) {
    const sibling = at % 2 === 1 ? level[at - 1] : (level[at + 1] ?? level[at])
    steps.push({ hash: sibling as string, position: at % 2 === 1 ? 'left' : 'right' })
    at = Math.floor(at / 2)
  }
  return steps
}

export function manifestDigest(files: readonly PackFile[]): string {
  const rows = inOrder(files).map(({ filename, size_bytes, content_hash }) => {
    return { filename, size_bytes: String(size_bytes), content_hash }
  })
  return `sha256:${sha256(canonical(rows))}`
}

export function isoSeconds(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1000).toISOString().slice(0, 19)}Z`
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export function base58(bytes: Uint8Array): string {
  let text = ''
  for (let rest = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n) {
    text = ALPHABET[Number(rest % 58n)] + text
  }
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}

export function fromBase58(text: string, length: number): Uint8Array {
  const value = [...text].reduce((sum, char) => sum * 58n + BigInt(ALPHABET.indexOf(char)), 0n)
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex')
}
