// Hashes the files of upload sessions as their parts come, if they come more or less in order: a part that is ahead of
// its turn is kept for a while.

import { createHash, type Hash } from 'node:crypto'
import { type MessagePort, parentPort } from 'node:worker_threads'
import type { OpenedHash } from '../confirm/hash-thread.ts'

/** A part of a file; or the file with the bytes that follow what was hashed; or a file that is over. */
export type FileOpening = { file: string; index: number } | { file: string } | { forget: string }

interface FileHash {
  sha256: Hash
  /** The hashes of the parts that it includes, which are the first ones. */
  hashes: string[]
  /** By index: parts that are not included yet. */
  ahead: Map<number, Part>
}

interface Part {
  /** Of the file up to here, once it is this part's turn. */
  whole: Hash | null
  /** What `whole` lacks. */
  kept: Uint8Array<ArrayBuffer>[]
  /** Its own hash, once it is stored. */
  stored: string | null
}

/**
 * The memory of parts that are ahead of their turn: a short piece has a whole buffer too. The bytes of those that are
 * dropped are read again later.
 */
const MAX_KEPT_BYTES = 32 * 1024 * 1024
const MAX_FILES = 1000

const files = new Map<string, FileHash>()
/** Parts with kept bytes, the oldest first. */
const keeping = new Map<Part, FileHash>()
let keptBytes = 0

parentPort!.on('message', ({ port, opening }: OpenedHash<FileOpening>) => {
  if ('forget' in opening) forget(opening.forget)
  else if ('index' in opening) hashPart(port, opening.file, opening.index)
  else hashRest(port, opening.file)
})

/** The part's own hash says that it is stored, and is answered once the file includes it or keeps it. */
function hashPart(port: MessagePort, name: string, index: number): void {
  const file = fileNamed(name)
  const part: Part = { whole: null, kept: [], stored: null }
  // The one before may have failed: ports are not heard in order, so that its end may come later.
  const before = file.ahead.get(index)
  if (before?.stored === null) drop(file, before)
  if (index >= file.hashes.length && !file.ahead.has(index)) file.ahead.set(index, part)
  advance(file)
  port.on('message', (message: Uint8Array<ArrayBuffer> | string) => {
    if (typeof message === 'string') {
      part.stored = message
      advance(file)
      return port.postMessage(message)
    }
    if (!part.whole && file.ahead.get(index) === part) {
      keep(file, part, message)
      return port.postMessage(null)
    }
    part.whole?.update(message)
    port.postMessage(message, [message.buffer])
  })
  port.on('close', () => {
    if (part.stored === null) drop(file, part)
  })
}

/** Answers the hashes of the parts that are included, and goes on from there. */
function hashRest(port: MessagePort, name: string): void {
  const { sha256, hashes } = fileNamed(name)
  const whole = sha256.copy()
  port.postMessage(hashes)
  port.on('message', (piece: Uint8Array<ArrayBuffer> | null) => {
    if (piece === null) return port.postMessage(whole.digest('hex'))
    whole.update(piece)
    port.postMessage(piece, [piece.buffer])
  })
}

function fileNamed(name: string): FileHash {
  const file = files.get(name) ?? { sha256: createHash('sha256'), hashes: [], ahead: new Map() }
  files.delete(name)
  files.set(name, file)
  if (files.size > MAX_FILES) forget(files.keys().next().value!)
  return file
}

function forget(name: string): void {
  for (const part of files.get(name)?.ahead.values() ?? []) release(part)
  files.delete(name)
}

/** Includes the parts whose turn it is. */
function advance(file: FileHash): void {
  for (;;) {
    const next = file.hashes.length
    const part = file.ahead.get(next)
    if (!part) return
    part.whole ??= file.sha256.copy()
    for (const piece of part.kept) part.whole.update(piece)
    release(part)
    if (part.stored === null) return
    file.sha256 = part.whole
    file.hashes.push(part.stored)
    file.ahead.delete(next)
  }
}

function keep(file: FileHash, part: Part, piece: Uint8Array<ArrayBuffer>): void {
  part.kept.push(piece)
  keptBytes += piece.buffer.byteLength
  keeping.set(part, file)
  for (const [oldest, its] of keeping) {
    if (keptBytes <= MAX_KEPT_BYTES) return
    drop(its, oldest)
  }
}

function drop(file: FileHash, part: Part): void {
  release(part)
  for (const [index, other] of file.ahead) if (other === part) file.ahead.delete(index)
}

function release(part: Part): void {
  for (const { buffer } of part.kept) {
    keptBytes -= buffer.byteLength
    buffer.transfer(0)
  }
  part.kept = []
  keeping.delete(part)
}
