// The content of a chunk, as it is stored.

import { hash } from 'node:crypto'
import { withPrefix } from '@svc/protocol/bytes'

/** A file as a statement attests it (AMB-83). */
export interface SnapshotFile {
  filename: string
  size_bytes: number
  /** With its prefix. */
  content_hash: string
  content_type: string
}

/** A content type, and how many consecutive rows have it. */
export type ContentTypeRun = [contentType: string, rows: number]

/** JSON. The rows are text that `listRow` wrote, so the stored text is the hashed text. */
export function writeContent(rows: string, contentTypes: readonly ContentTypeRun[]): string {
  return `{"files":[${rows}],"content_types":${JSON.stringify(contentTypes)}}`
}

export function chunkId(content: string): string {
  return hash('sha256', content)
}

/** A file in the JSON that is stored, so that lists of files are written without parsing and serializing each. */
export interface StoredFile {
  /** `"filename":"a.txt","size_bytes":5` */
  nameAndSize: string
  /** Without its prefix and quotes. */
  contentHash: string
  contentType: string
}

const ROWS_START = '{"files":[{"content_hash":"'
const ROW_BORDER = '},{"content_hash":"'
const HASH_END = '","filename":'
const ROWS_END = '}],"content_types":'

/**
 * Inside a JSON string every quote follows a backslash, so the texts above are found between fields and rows only.
 * Takes content that `writeContent` wrote.
 */
export function readStoredFiles(content: string): StoredFile[] {
  const rowsEnd = content.indexOf(ROWS_END)
  const contentTypes: ContentTypeRun[] = JSON.parse(content.slice(rowsEnd + ROWS_END.length, -1))
  const typeOfEach = expandRuns(contentTypes)
  const rows = content.slice(ROWS_START.length, rowsEnd).split(ROW_BORDER)
  return rows.map((row, i) => {
    const hashEnd = row.indexOf(HASH_END)
    const contentType = typeOfEach[i] as string
    return { nameAndSize: row.slice(hashEnd + 2), contentHash: row.slice(0, hashEnd), contentType }
  })
}

function expandRuns(contentTypes: readonly ContentTypeRun[]): string[] {
  return contentTypes.flatMap(([contentType, rows]) => Array<string>(rows).fill(contentType))
}

/** The place of a file among those of the chunk, or -1. */
export function placeOf(content: string, filename: string): number {
  const found = content.indexOf(`${HASH_END}${JSON.stringify(filename)},"size_bytes":`)
  if (found === -1) return -1
  let place = 0
  for (let at = content.indexOf(ROW_BORDER); at !== -1 && at < found; at = content.indexOf(ROW_BORDER, at + 1)) place++
  return place
}

export function fileOf({ nameAndSize, contentHash, contentType }: StoredFile): SnapshotFile {
  const { filename, size_bytes, content_hash } = JSON.parse(`{${nameAndSize},"content_hash":"${contentHash}"}`)
  return { filename, size_bytes, content_hash: withPrefix(content_hash), content_type: contentType }
}

export function readContent(content: string): SnapshotFile[] {
  const { files, content_types } = JSON.parse(content) as {
    files: Omit<SnapshotFile, 'content_type'>[]
    content_types: ContentTypeRun[]
  }
  const typeOfEach = expandRuns(content_types)
  return files.map(({ filename, size_bytes, content_hash }, i) => ({
    filename,
    size_bytes,
    content_hash: withPrefix(content_hash),
    content_type: typeOfEach[i] as string,
  }))
}
