// A digest of the content of a table, which is the same on both engines and for any order of rows.

import { hash } from 'node:crypto'
import type { Row } from './source.ts'

export interface Content {
  rows: number
  /** The sum of the SHA-256 of all rows, modulo 2^256. */
  digest: bigint
}

const MODULUS = 1n << 256n

export function emptyContent(): Content {
  return { rows: 0, digest: 0n }
}

export function addRows(content: Content, columns: readonly string[], rows: readonly Row[]): void {
  for (const row of rows) {
    const values = columns.map((column) => plainValue(row[column] ?? null))
    content.digest = (content.digest + BigInt(`0x${hash('sha256', JSON.stringify(values))}`)) % MODULUS
    content.rows++
  }
}

/** Distinguishes bytes from a text with the same characters. */
function plainValue(value: Row[string]): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}
