// Compresses JSON answers for clients that accept it. Streams are not compressed: anyone can ask for the evidence of a
// million files, and compressing it would take a second of a core each time.

import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import type { Endpoint } from '@svc/api/endpoint'

type Coding = 'br' | 'gzip'

export interface Packed {
  coding: Coding
  bytes: Uint8Array
}

export interface Compression {
  /** Null if the text is sent unchanged. */
  pack(text: string, acceptEncoding: string): Packed | Promise<Packed> | null
}

/** Shorter texts fit into one packet with their headers. */
export const COMPRESSED_FROM = 1_024
/** Compressing more than this takes longer than other requests should wait. */
const SYNC_CHARACTERS = 16_384

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const GZIP = { level: 4 }

/**
 * Null for answers that are never compressed. A list of lockers, for example, has receipt ids beside names that
 * other customers chose, and the length of its compressed text would reveal the ids (BREACH).
 */
export function createCompression({ method, auth, hasNoSecrets, params, query }: Endpoint): Compression | null {
  if (method !== 'GET' || (auth !== 'public' && !hasNoSecrets)) return null
  // An answer without parameters is the same for all callers, and is compressed once.
  const isShared = auth === 'public' && !params && !query
  let text = ''
  let packed: Partial<Record<Coding, Packed | Promise<Packed>>> = {}

  return {
    pack(next, acceptEncoding) {
      const coding = codingOf(acceptEncoding)
      if (coding === null) return null
      if (!isShared) return compress(next, coding)
      if (next !== text) {
        text = next
        packed = {}
      }
      packed[coding] ??= compress(next, coding)
      return packed[coding]
    },
  }
}

function compress(text: string, coding: Coding): Packed | Promise<Packed> {
  if (text.length > SYNC_CHARACTERS) return compressLong(text, coding)
  return { coding, bytes: coding === 'br' ? brotliCompressSync(text, BROTLI) : gzipSync(text, GZIP) }
}

async function compressLong(text: string, coding: Coding): Promise<Packed> {
  const bytes = coding === 'br' ? promisify(brotliCompress)(text, BROTLI) : promisify(gzip)(text, GZIP)
  return { coding, bytes: await bytes }
}

function codingOf(accepted: string): Coding | null {
  if (weightOf(accepted, 'br') > 0) return 'br'
  return weightOf(accepted, 'gzip') > 0 ? 'gzip' : null
}

/** The weight of a word in a list such as `br;q=1.0, gzip`; 0 if the list does not contain it. */
export function weightOf(list: string, word: string): number {
  const entry = list
    .toLowerCase()
    .split(',')
    .map((part) => part.trim().split(/\s*;\s*/))
    .find(([name]) => name === word)
  if (!entry) return 0
  const weight = Number(entry.find((part) => part.startsWith('q='))?.slice(2) ?? 1)
  return Number.isFinite(weight) ? weight : 0
}
