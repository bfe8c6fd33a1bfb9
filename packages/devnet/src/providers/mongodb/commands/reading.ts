import { randomBytes } from 'node:crypto'
import { calculateObjectSize, type Document } from 'bson'
import { find as findIn } from 'mingo'
import type { StoredDocument } from '../collection.ts'
import { CommandError } from '../command-error.ts'
import { type Command, type Cursor, namespaceOf, type ServerState } from '../state.ts'

const FIRST_BATCH_DOCUMENTS = 101
const MAX_BATCH_BYTES = 16 * 1024 * 1024

export const find: Command = (server, command) => {
  const ns = namespaceOf(command, 'find')
  const { filter = {}, sort, skip = 0, limit = 0, projection = null, singleBatch } = command
  const collection = server.database.find(ns)
  if (!collection) return { cursor: { id: 0n, ns, firstBatch: [] }, ok: 1 }
  const found = sorted(collection.matching(filter), sort)
  const left = found.slice(skip, limit ? skip + Math.abs(limit) : undefined)
  const cursor: Cursor = { collection, projection, left }
  const firstBatch = nextBatch(cursor, command.batchSize ?? FIRST_BATCH_DOCUMENTS)
  const isOver = cursor.left.length === 0 || singleBatch || limit < 0
  return { cursor: { id: isOver ? 0n : storeCursor(server, cursor), ns, firstBatch }, ok: 1 }
}

export const getMore: Command = (server, command) => {
  const id = BigInt(command.getMore)
  const cursor = server.cursors.get(id)
  if (!cursor) throw new CommandError(43, 'CursorNotFound', `cursor id ${id} not found`)
  const documents = nextBatch(cursor, command.batchSize ?? Number.POSITIVE_INFINITY)
  const isOver = cursor.left.length === 0
  if (isOver) server.cursors.delete(id)
  const ns = namespaceOf(command, 'collection')
  return { cursor: { id: isOver ? 0n : id, ns, nextBatch: documents }, ok: 1 }
}

export const killCursors: Command = (server, command) => {
  for (const id of command.cursors) server.cursors.delete(BigInt(id))
  return { cursorsKilled: command.cursors, ok: 1 }
}

function sorted(found: StoredDocument[], sort: Document | undefined): StoredDocument[] {
  if (!sort) return found
  const byHead = new Map(found.map((stored) => [stored.head, stored]))
  const heads = findIn<Document>([...byHead.keys()], {})
    .sort(sort as Record<string, 1 | -1>)
    .all() // as drivers send it
  return heads.flatMap((head) => byHead.get(head) ?? [])
}

/** Up to this many documents, within the byte limit of a batch. */
function nextBatch(cursor: Cursor, maxDocuments: number): Document[] {
  const batch: Document[] = []
  let bytes = 0
  while (batch.length < maxDocuments && cursor.left.length > 0) {
    const whole = cursor.collection.load(cursor.left[0]!)
    bytes += whole ? calculateObjectSize(whole) : 0
    if (batch.length > 0 && bytes > MAX_BATCH_BYTES) break
    cursor.left.shift()
    if (whole) batch.push(cursor.projection ? project(whole, cursor.projection) : whole)
  }
  return batch
}

function project(document: Document, projection: Document): Document {
  return findIn<Document>([document], {}, projection as Record<string, 0 | 1>).all()[0] ?? {} // as drivers send it
}

function storeCursor({ cursors }: ServerState, cursor: Cursor): bigint {
  const id = randomBytes(8).readBigInt64LE()
  cursors.set(id, cursor)
  return id
}
