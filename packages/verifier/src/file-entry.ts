import { bare, isHex } from '@svc/protocol/bytes'
import type { FileEntry } from '@svc/protocol/merkle'
import { quoted } from './printable.ts'
import { RefusedBundle } from './refusal.ts'
import { isObject } from './strict.ts'

/** A row of a file list, its hash without prefix (Merkle rule 2). Other fields of a row say nothing about the leaf. */
export function fileEntry(row: unknown): FileEntry {
  const { filename, size_bytes, content_hash } = isObject(row) ? row : {}
  if (typeof filename !== 'string' || filename === '') throw bad('a file has no filename')
  if (!filename.isWellFormed()) throw bad('a filename holds a lone surrogate')
  // Rule 9: with a colon, two entries could have one leaf.
  if (filename.includes(':')) throw new RefusedBundle('colon_in_filename', `a colon in ${quoted(filename)}`)
  if (typeof size_bytes !== 'number' || !Number.isSafeInteger(size_bytes) || size_bytes < 0) {
    throw bad(`size_bytes of ${quoted(filename)} is not a size`)
  }
  const hash = typeof content_hash === 'string' ? bare(content_hash) : ''
  if (!isHex(hash, 32)) throw bad(`content_hash of ${quoted(filename)} is not 64 lowercase hex digits`)
  return { filename, size_bytes, content_hash: hash }
}

function bad(why: string): RefusedBundle {
  return new RefusedBundle('bad_file_entry', why)
}
