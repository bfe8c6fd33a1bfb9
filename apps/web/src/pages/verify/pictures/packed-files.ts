// A long list of files in a few large buffers: a million files need about 80 MB, without their source text.

import { bare, isHex, toHex } from '@svc/protocol/bytes'
import { type FileEntry, leafHash } from '@svc/protocol/merkle'

const HASH_BYTES = 32
/** UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

export interface PackedFiles {
  /** Adds files in code-point order, the order of a bundle. */
  add(files: readonly FileEntry[]): void
  readonly count: number
  /** The file at an index; its content hash is bare. */
  at(index: number): FileEntry
  leafAt(index: number): string
  filename(index: number): string
  /** Compares two names by their UTF-8 bytes, which is code-point order (Merkle rule 4). */
  compareName(index: number, other: PackedFiles, otherIndex: number): number
  hasSameContent(index: number, other: PackedFiles, otherIndex: number): boolean
  /** A key that is equal for equal contents; different contents may share one. */
  contentKey(index: number): number
  readonly bytes: PackedBytes
}

interface PackedBytes {
  names: Uint8Array
  /** The start of each name, and the end of the last one. */
  starts: Uint32Array
  sizes: Float64Array
  hashes: Uint8Array
}

export function createPackedFiles(): PackedFiles {
  const bytes: PackedBytes = {
    names: new Uint8Array(1 << 12),
    starts: new Uint32Array(129),
    sizes: new Float64Array(128),
    hashes: new Uint8Array(128 * HASH_BYTES),
  }
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  let count = 0

  function addOne({ filename, size_bytes, content_hash }: FileEntry): void {
    if (!filename.isWellFormed()) throw new RangeError('a filename holds a lone surrogate')
    const start = bytes.starts[count] as number
    bytes.names = withCapacity(bytes.names, start + filename.length * MAX_BYTES_PER_UNIT)
    bytes.starts = withCapacity(bytes.starts, count + 2)
    bytes.sizes = withCapacity(bytes.sizes, count + 1)
    bytes.hashes = withCapacity(bytes.hashes, (count + 1) * HASH_BYTES)
    writeHex(bare(content_hash), bytes.hashes, count * HASH_BYTES)
    bytes.starts[count + 1] = start + encoder.encodeInto(filename, bytes.names.subarray(start)).written
    bytes.sizes[count] = size_bytes
    count++
  }

  const held: PackedFiles = {
    bytes,
    get count() {
      return count
    },
    add(files) {
      for (const file of files) addOne(file)
    },
    at(index) {
      if (!Number.isInteger(index) || index < 0 || index >= count) throw new RangeError(`no file ${index}`)
      const hash = bytes.hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
      return { filename: held.filename(index), size_bytes: bytes.sizes[index] as number, content_hash: toHex(hash) }
    },
    leafAt: (index) => leafHash(held.at(index)),
    filename: (index) => decoder.decode(bytes.names.subarray(bytes.starts[index], bytes.starts[index + 1])),
    compareName(index, { bytes: other }, otherIndex) {
      const [start, end] = [bytes.starts[index] as number, bytes.starts[index + 1] as number]
      const [otherStart, otherEnd] = [other.starts[otherIndex] as number, other.starts[otherIndex + 1] as number]
      const shared = Math.min(end - start, otherEnd - otherStart)
      for (let i = 0; i < shared; i++) {
        const order = (bytes.names[start + i] as number) - (other.names[otherStart + i] as number)
        if (order !== 0) return order
      }
      return end - start - (otherEnd - otherStart)
    },
    hasSameContent(index, { bytes: other }, otherIndex) {
      if (bytes.sizes[index] !== other.sizes[otherIndex]) return false
      for (let i = 0; i < HASH_BYTES; i++) {
        if (bytes.hashes[index * HASH_BYTES + i] !== other.hashes[otherIndex * HASH_BYTES + i]) return false
      }
      return true
    },
    contentKey(index) {
      const at = index * HASH_BYTES
      const byte = (i: number) => bytes.hashes[at + i] as number
      const size = bytes.sizes[index] as number
      return (
        size + byte(0) * 2 ** 40 + byte(1) * 2 ** 32 + byte(2) * 2 ** 24 + ((byte(3) << 16) | (byte(4) << 8) | byte(5))
      )
    },
  }
  return held
}

/** Writes into the buffer directly, which saves an array per hash. */
function writeHex(hash: string, into: Uint8Array, at: number): void {
  if (!isHex(hash, HASH_BYTES)) throw new RangeError('a content hash is not SHA-256')
  for (let i = 0; i < HASH_BYTES; i++) {
    into[at + i] = (digit(hash.charCodeAt(2 * i)) << 4) | digit(hash.charCodeAt(2 * i + 1))
  }
}

/** The value of a lowercase hex digit. */
function digit(code: number): number {
  return code < 0x60 ? code - 0x30 : code - 0x57
}

type Growing = Uint8Array | Uint32Array | Float64Array

/** The same array, or a larger copy of it. */
function withCapacity<T extends Growing>(array: T, length: number): T {
  if (length <= array.length) return array
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, array.length * 2))
  larger.set(array)
  return larger
}
