// The snapshot of a locker's newest statement, with which the next one is compared. A statement must describe the
// present manifest, so a stored chunk is reused only if the same rows, written out by the database, are the same text.
// The files of such a chunk need neither be read one by one nor hashed again.

import { hash } from 'node:crypto'
import { withPrefix } from '@svc/protocol/bytes'
import { BLOCK_LEAVES, merkleRoot } from '@svc/protocol/merkle'
import { compareCodePoints } from '@svc/protocol/order'
import { type ChunkList, openChunkList } from '../../db/chunk-list.ts'
import { leavesOf, writeContent } from './chunk-content.ts'
import { type Chunk, MAX_ROWS, type StoredChunk } from './cut-chunks.ts'
import type { ListedFiles, NameRange, SnapshotRow } from './store.ts'

export interface PreviousSnapshot {
  /** All chunks but the last, which no row closes. */
  closedChunks: number
  chunk(index: number): PreviousChunk
  /** Where the names of the last chunk begin. */
  lastFrom: string
}

export interface PreviousChunk extends NameRange, StoredChunk {
  id: string
  firstFilename: string
  firstRow: number
}

/** Null if the row is damaged: then all files are read. */
export function openPrevious(row: SnapshotRow): PreviousSnapshot | null {
  const list = openChunkList(row.chunk_list)
  const nodes = nodesOf(row.block_nodes)
  const ids = Array.from({ length: list.length }, (_, i) => list.id(i))
  const isIntact =
    hash('sha256', ids.join('')) === row.snapshot_key &&
    withPrefix(merkleRoot(nodes)) === row.merkle_root &&
    hasOrder(list)
  if (!isIntact) return null
  // New files may precede all others.
  const from = (index: number) => (index === 0 ? '' : list.firstFilename(index))
  return {
    closedChunks: list.length - 1,
    chunk(index) {
      const end = Math.floor(list.firstRow(index + 1) / BLOCK_LEAVES)
      const isEnd = end > Math.floor(list.firstRow(index) / BLOCK_LEAVES)
      return {
        id: ids[index] as string,
        from: from(index),
        before: list.firstFilename(index + 1),
        firstFilename: list.firstFilename(index),
        firstRow: list.firstRow(index),
        blockNode: isEnd ? (nodes[end - 1] as string) : null,
      }
    },
    lastFrom: from(list.length - 1),
  }
}

export function nodesOf(bytes: Uint8Array): string[] {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
  return Array.from({ length: bytes.length / 32 }, (_, i) => hex.slice(i * 64, i * 64 + 64))
}

/** Without order, files could be left out, or their query could be refused. */
function hasOrder(list: ChunkList): boolean {
  const names = Array.from({ length: list.length }, (_, i) => list.firstFilename(i))
  return names.every(
    (name, i) => !name.includes('\0') && (i === 0 || compareCodePoints(names[i - 1] as string, name) < 0),
  )
}

/**
 * The stored chunk if its rows equal those of the present manifest, otherwise null. `row` is the present position of
 * its first row.
 */
export function sameChunk(stored: PreviousChunk, content: string | null, now: ListedFiles, row: number): Chunk | null {
  // With more entries than the files of a chunk, not all entries were read.
  if (content === null || now.listed > MAX_ROWS) return null
  if (writeContent(now) !== content) return null
  const { id, firstFilename, firstRow, blockNode } = stored
  return {
    id,
    content,
    firstFilename,
    rowCount: now.contentTypes.length,
    totalBytes: BigInt(now.totalBytes),
    leaves: row === firstRow ? null : leavesOf(now.text),
    stored: { blockNode },
  }
}
