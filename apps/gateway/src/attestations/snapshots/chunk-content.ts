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

export function readContent(content: string): SnapshotFile[] {
  const { files, content_types } = JSON.parse(content) as {
    files: Omit<SnapshotFile, 'content_type'>[]
    content_types: ContentTypeRun[]
  }
  const typeOfEach = content_types.flatMap(([contentType, rows]) => Array<string>(rows).fill(contentType))
  return files.map(({ filename, size_bytes, content_hash }, i) => ({
    filename,
    size_bytes,
    content_hash: withPrefix(content_hash),
    content_type: typeOfEach[i] as string,
  }))
}
