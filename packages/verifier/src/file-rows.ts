// Reads the rows of a file list from text in arbitrary pieces. At most one row is in memory.

import { bare, isHex } from '@svc/protocol/bytes'
import type { FileEntry } from '@svc/protocol/merkle'
import { type JsonObject, MAX_FIELDS, otherFields, quoted, RefusedBundle, strictJson } from './untrusted.ts'

const MAX_ROW_LENGTH = 64 * 1024
const SPACE = /[ \t\n\r]*/y
/** The nesting levels around a row: the document and the list. */
const LEVELS_AROUND = 2
/** A row as gateways write it. This is ten times faster than the strict parser, which reads all other rows. */
const PLAIN_ROW = /\{"filename":"([^"\\\p{Cc}]*)","size_bytes":(0|[1-9]\d{0,15}),"content_hash":"([0-9a-f]{64})"\}/uy

export interface FileRows {
  /** The text from the closing bracket on. Null while the list continues. */
  write(piece: string): string | null
  /** The paths of unknown fields in rows, which are not verified. */
  otherFields(): string[]
}

const FIELDS = ['filename', 'size_bytes', 'content_hash']

/** `onFile` receives each entry, and the row with all of its fields. */
export function createFileRows(onFile: (file: FileEntry, row: JsonObject) => void): FileRows {
  let text = ''
  const others = new Set<string>()
  let expected: 'row or end' | 'row' | 'comma or end' = 'row or end'

  /** The row that begins at this position, and its end. Null if the row is incomplete. */
  function readRow(at: number): { row: JsonObject; end: number } | null {
    PLAIN_ROW.lastIndex = at
    const plain = PLAIN_ROW.exec(text)
    if (plain) {
      const [, filename, size, content_hash] = plain as unknown as [string, string, string, string] // no group is optional
      return { row: { filename, size_bytes: Number(size), content_hash }, end: PLAIN_ROW.lastIndex }
    }
    if (text[at] === ',' || text[at] === ']') throw new RefusedBundle('not_strict_json', 'a file entry is missing')
    if (text[at] !== '{') throw new RefusedBundle('bad_file_entry', 'a file entry is not an object')
    const end = endOfObject(text, at)
    if (end === -1) return null
    const row = strictJson(text.slice(at, end), MAX_ROW_LENGTH, 'a file entry', LEVELS_AROUND) as JsonObject
    if (others.size < MAX_FIELDS) for (const field of otherFields(row, FIELDS, 'files[].')) others.add(field)
    return { row, end }
  }

  return {
    write(piece) {
      text += piece
      for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
        const char = text[at]
        if (char === ']' && expected !== 'row') return text.slice(at)
        if (expected === 'comma or end') {
          if (char !== ',') throw new RefusedBundle('not_strict_json', 'a comma or a bracket must follow a file entry')
          expected = 'row'
          at++
          continue
        }
        const read = readRow(at)
        if (!read) return waitFrom(at)
        onFile(fileEntry(read.row), read.row)
        expected = 'comma or end'
        at = read.end
      }
      return waitFrom(text.length)
    },
    otherFields: () => [...others].slice(0, MAX_FIELDS),
  }

  function waitFrom(at: number): null {
    text = text.slice(at)
    if (text.length > MAX_ROW_LENGTH)
      throw new RefusedBundle('too_large', `a file entry over ${MAX_ROW_LENGTH} characters`)
    return null
  }
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.exec(text)
  return SPACE.lastIndex
}

/** The position after the closing brace of the object; -1 if it has not arrived yet. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1
  }
  return -1
}

/** A row of a file list, with a bare hash (Merkle rule 2). Other fields of a row are not part of the leaf. */
function fileEntry({ filename, size_bytes, content_hash }: JsonObject): FileEntry {
  if (typeof filename !== 'string' || filename === '') throw bad('a file has no filename')
  if (!filename.isWellFormed()) throw bad('a filename contains a lone surrogate')
  // Rule 9: with a colon, two entries could have the same leaf.
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
