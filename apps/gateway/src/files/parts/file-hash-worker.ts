// Hashes the files of upload sessions while their parts arrive roughly in order: parts that arrive early are buffered
// for a while.

import { createHash, type Hash } from 'node:crypto'
import { type MessagePort, parentPort } from 'node:worker_threads'
import type { OpenedHash } from '../confirm/hash-thread.ts'

/** A part of a file; the rest of a file after the hashed parts; or a file that is finished. */
export type FileOpening = { file: string; index: number } | { file: string } | { forget: string }

interface FileHash {
  sha256: Hash
  /** The digests of the first parts, which the hash includes. */
  hashes: string[]
  /** Parts that the hash does not include yet, by index. */
  ahead: Map<number, Part>
}

interface Part {
  /** The hash of the file up to and including this part, once all earlier parts are included. */
  hash: Hash | null
  /** The pieces that `hash` does not include yet. */
  buffered: Uint8Array<ArrayBuffer>[]
  /** The part's own digest, once it is stored. */
  stored: string | null
}

/**
 * The memory for parts that arrive early; even a short piece occupies a whole buffer. Bytes of dropped parts are read
 * again later.
 */
const MAX_BUFFERED_BYTES = 32 * 1024 * 1024
const MAX_FILES = 1000

const files = new Map<string, FileHash>()
/** Parts with buffered pieces, oldest first. */
const buffering = new Map<Part, FileHash>()
let bufferedBytes = 0

parentPort!.on('message', ({ port, opening }: OpenedHash<FileOpening>) => {
  if ('forget' in opening) forget(opening.forget)
  else if ('index' in opening) hashPart(port, opening.file, opening.index)
  else hashRest(port, opening.file)
})

/** The part's digest signals that it is stored. It is echoed once the file includes or buffers the part. */
function hashPart(port: MessagePort, name: string, index: number): void {
  const file = fileNamed(name)
  const part: Part = { hash: null, buffered: [], stored: null }
  // The previous attempt may have failed: ports are not processed in order, so its end may arrive later.
  const previous = file.ahead.get(index)
  if (previous?.stored === null) drop(file, previous)
  if (index >= file.hashes.length && !file.ahead.has(index)) file.ahead.set(index, part)
  advance(file)
  port.on('message', (message: Uint8Array<ArrayBuffer> | string) => {
    if (typeof message === 'string') {
      part.stored = message
      advance(file)
      return port.postMessage(message)
    }
    if (!part.hash && file.ahead.get(index) === part) {
      bufferPiece(file, part, message)
      return port.postMessage(null)
    }
    part.hash?.update(message)
    port.postMessage(message, [message.buffer])
  })
  port.on('close', () => {
    if (part.stored === null) drop(file, part)
  })
}

/** Sends the digests of the included parts, and continues hashing after them. */
function hashRest(port: MessagePort, name: string): void {
  const { sha256, hashes } = fileNamed(name)
  const hash = sha256.copy()
  port.postMessage(hashes)
  port.on('message', (piece: Uint8Array<ArrayBuffer> | null) => {
    if (piece === null) return port.postMessage(hash.digest('hex'))
    hash.update(piece)
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

/** Includes the parts that are next in order. */
function advance(file: FileHash): void {
  for (;;) {
    const next = file.hashes.length
    const part = file.ahead.get(next)
    if (!part) return
    part.hash ??= file.sha256.copy()
    for (const piece of part.buffered) part.hash.update(piece)
    release(part)
    if (part.stored === null) return
    file.sha256 = part.hash
    file.hashes.push(part.stored)
    file.ahead.delete(next)
  }
}

function bufferPiece(file: FileHash, part: Part, piece: Uint8Array<ArrayBuffer>): void {
  part.buffered.push(piece)
  bufferedBytes += piece.buffer.byteLength
  buffering.set(part, file)
  for (const [oldest, owner] of buffering) {
    if (bufferedBytes <= MAX_BUFFERED_BYTES) return
    drop(owner, oldest)
  }
}

function drop(file: FileHash, part: Part): void {
  release(part)
  for (const [index, other] of file.ahead) if (other === part) file.ahead.delete(index)
}

function release(part: Part): void {
  for (const { buffer } of part.buffered) {
    bufferedBytes -= buffer.byteLength
    buffer.transfer(0)
  }
  part.buffered = []
  buffering.delete(part)
}
