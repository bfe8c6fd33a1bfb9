// The content of a chunk as it is stored.

import { hash } from 'node:crypto'
import { withPrefix } from '@svc/protocol/bytes'
import { listRow } from '@svc/protocol/file-list'
import { type FileEntry, leafHash } from '@svc/protocol/merkle'

/** A file as a statement attests it (ATT-01). */
export interface SnapshotFile {
  filename: string
  size_bytes: number
  /** Includes the prefix. */
  content_hash: string
  content_type: string
}

/** Files in code-point order of their names. */
export interface FileRows {
  /** As `listRow` writes them, separated by commas. Databases write the same text. */
  text: string
  /** One for each row. */
  contentTypes: readonly string[]
}

export function fileRowsOf(files: readonly SnapshotFile[]): FileRows {
  return { text: files.map(listRow).join(), contentTypes: files.map(({ content_type }) => content_type) }
}

/** A content type, and how many consecutive rows have it. */
type ContentTypeRun = [contentType: string, rows: number]

function contentTypeRuns(contentTypes: readonly string[]): ContentTypeRun[] {
  const runs: ContentTypeRun[] = []
  for (const contentType of contentTypes) {
    const run = runs.at(-1)
    if (run?.[0] === contentType) run[1]++
    else runs.push([contentType, 1])
  }
  return runs
}

/** JSON. `listRow` wrote the text of the rows, so the stored text is the hashed text. */
export function writeContent({ text, contentTypes }: FileRows): string {
  return `${FILES_START}${text}],"content_types":${JSON.stringify(contentTypeRuns(contentTypes))}}`
}

/** The rows of content that `writeContent` wrote. */
export function rowsIn(content: string): string {
  return content.slice(FILES_START.length, content.indexOf(ROWS_END) + 1)
}

export function chunkId(content: string): string {
  return hash('sha256', content)
}

/** A file in stored JSON, so that lists of files are written without parsing and serializing each file. */
export interface StoredFile {
  /** `"filename":"a.txt","size_bytes":5` */
  nameAndSize: string
  /** Without prefix and quotes. */
  contentHash: string
  contentType: string
}

const FILES_START = '{"files":['
const ROW_START = '{"content_hash":"'
const ROWS_START = FILES_START + ROW_START
const ROW_BORDER = `},${ROW_START}`
const HASH_END = '","filename":'
const NAME_START = '"filename":"'
const NAME_END = '","size_bytes":'
const ROWS_END = '}],"content_types":'

/** Reads content that `writeContent` wrote. */
export function readStoredFiles(content: string): StoredFile[] {
  const files: StoredFile[] = []
  forEachStoredFile(content, (file) => files.push(file))
  return files
}

export function forEachStoredFile(content: string, use: (file: StoredFile) => void): void {
  const rowsEnd = content.indexOf(ROWS_END)
  const typeOfEach = expandRuns(JSON.parse(content.slice(rowsEnd + ROWS_END.length, -1)))
  forEachRowWithin(content, ROWS_START.length, rowsEnd, ({ nameAndSize, contentHash, index }) =>
    use({ nameAndSize, contentHash, contentType: typeOfEach[index] as string }),
  )
}

/** A row in the text of several rows. */
interface Row extends Pick<StoredFile, 'nameAndSize' | 'contentHash'> {
  index: number
  /** The position where its text ends. */
  end: number
}

export function forEachRow(rows: string, use: (row: Row) => void): void {
  forEachRowWithin(rows, ROW_START.length, rows.length - 1, use)
}

/**
 * `start` is after the start of the first row, `end` before the end of the last row. Inside a JSON string a backslash
 * precedes every quote, so the separators above are found only between fields and rows.
 */
function forEachRowWithin(text: string, start: number, end: number, use: (row: Row) => void): void {
  for (let at = start, index = 0; at < end; index++) {
    const hashEnd = text.indexOf(HASH_END, at)
    // Does not search from the hash on: damaged text may have no hash, and the search must move forward.
    const border = text.indexOf(ROW_BORDER, at)
    const rowEnd = border === -1 ? end : border
    use({ nameAndSize: text.slice(hashEnd + 2, rowEnd), contentHash: text.slice(at, hashEnd), index, end: rowEnd + 1 })
    at = rowEnd + ROW_BORDER.length
  }
}

/** The concatenated Merkle leaves of rows. */
export function leavesOf(rows: string): string {
  let leaves = ''
  forEachRow(rows, (row) => {
    leaves += leafHash(entryOf(row))
  })
  return leaves
}

export function keepRows({ text, contentTypes }: FileRows, isKept: (index: number) => boolean): FileRows {
  const kept: string[] = []
  let start = 0
  forEachRow(text, ({ index, end }) => {
    if (isKept(index)) kept.push(text.slice(start, end))
    start = end + 1
  })
  return { text: kept.join(), contentTypes: contentTypes.filter((_, index) => isKept(index)) }
}

function expandRuns(contentTypes: readonly ContentTypeRun[]): string[] {
  return contentTypes.flatMap(([contentType, rows]) => Array<string>(rows).fill(contentType))
}

/** The position of a file in the chunk, or -1. */
export function indexInChunk(content: string, filename: string): number {
  const found = content.indexOf(`${HASH_END}${JSON.stringify(filename)},"size_bytes":`)
  if (found === -1) return -1
  let index = 0
  for (let at = content.indexOf(ROW_BORDER); at !== -1 && at < found; at = content.indexOf(ROW_BORDER, at + 1)) index++
  return index
}

export function fileOf(stored: StoredFile): SnapshotFile {
  const { filename, size_bytes, content_hash } = entryOf(stored)
  return { filename, size_bytes, content_hash: withPrefix(content_hash), content_type: stored.contentType }
}

/** Has the unprefixed hash. Most rows are plain text, which takes a third of the time of JSON to read. */
export function entryOf({ nameAndSize, contentHash }: Pick<StoredFile, 'nameAndSize' | 'contentHash'>): FileEntry {
  if (nameAndSize.includes('\\') || contentHash.includes('\\')) {
    return JSON.parse(`{${nameAndSize},"content_hash":"${contentHash}"}`)
  }
  const nameEnd = nameAndSize.lastIndexOf(NAME_END)
  return {
    filename: nameAndSize.slice(NAME_START.length, nameEnd),
    size_bytes: Number(nameAndSize.slice(nameEnd + NAME_END.length)),
    content_hash: contentHash,
  }
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
