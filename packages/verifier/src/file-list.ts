// Sorts a file list in code-point order (Merkle rule 4), counts and hashes it, without storing a long list in memory.
//
// A bundle may list its files in any order; gateways write them in code-point order. Up to a limit all files are
// buffered and sorted at the end. A longer list must be in order from its first file on. Its files are released as they
// arrive, and its order reveals repeated names.

import { hashManifest, listRow } from '@svc/protocol/file-list'
import { createBlockTree, type FileEntry, leafHash } from '@svc/protocol/merkle'
import { compareCodePoints, sortedByFilename } from '@svc/protocol/order'
import { quoted, RefusedBundle } from './untrusted.ts'

/** About 50,000 files. Each counts as its name plus 100 characters. */
const MAX_BUFFERED_CHARACTERS = 8 * 1024 * 1024
const CHARACTERS_PER_ENTRY = 100

export interface FileOrder<File extends FileEntry> {
  take(file: File): void
  /** Returns the files whose position is known, each once. */
  release(): File[]
  /** Returns the remaining files at the end of the list. */
  end(): File[]
}

export function createFileOrder<File extends FileEntry>(): FileOrder<File> {
  let buffered: File[] = []
  let bufferedCharacters = 0
  let isSorted = true
  let last: string | null = null

  return {
    take(file) {
      const order = last === null ? -1 : compareCodePoints(last, file.filename)
      if (order === 0) throw duplicate(file.filename)
      if (order > 0) isSorted = false
      last = file.filename
      bufferedCharacters += file.filename.length + CHARACTERS_PER_ENTRY
      buffered.push(file)
      if (!isSorted && bufferedCharacters > MAX_BUFFERED_CHARACTERS) {
        throw new RefusedBundle(
          'unsorted_file_list',
          `a list of this length must be sorted; ${quoted(file.filename)} is out of order`,
        )
      }
    },
    release() {
      return bufferedCharacters > MAX_BUFFERED_CHARACTERS ? takeBuffered() : []
    },
    end() {
      if (!isSorted) {
        buffered = sortedByFilename(buffered)
        const repeated = buffered.find((file, i) => file.filename === buffered[i - 1]?.filename)
        if (repeated) throw duplicate(repeated.filename)
      }
      return takeBuffered()
    },
  }

  function takeBuffered(): File[] {
    const files = buffered
    buffered = []
    return files
  }
}

function duplicate(filename: string): RefusedBundle {
  return new RefusedBundle('duplicate_filename', `${quoted(filename)} occurs twice`)
}

/** Counted and hashed by the verifier, regardless of the values in the bundle. */
export interface CountedFiles {
  count: number
  totalBytes: bigint
  /** Without the prefix `sha256:`. */
  merkleRoot: string
  /** The nodes above each block of leaves, from which `proofInBlocks` makes proofs. */
  blockNodes: readonly string[]
  manifestDigest: string
}

export interface FileCounter {
  /** Files in code-point order. */
  add(files: readonly FileEntry[]): void
  /** Null if there was no file, because an empty list has no root (MERK-08). */
  end(): CountedFiles | null
}

/** The number of rows that are hashed as one text. */
const CHUNK_ROWS = 1000

export function createFileCounter(): FileCounter {
  const tree = createBlockTree()
  const manifest = hashManifest()
  let count = 0
  let totalBytes = 0n
  return {
    add(files) {
      for (const file of files) {
        tree.add(leafHash(file))
        totalBytes += BigInt(file.size_bytes)
      }
      count += files.length
      for (let start = 0; start < files.length; start += CHUNK_ROWS) {
        manifest.add(
          files
            .slice(start, start + CHUNK_ROWS)
            .map(listRow)
            .join(),
        )
      }
    },
    end() {
      if (count === 0) return null
      const { root: merkleRoot, nodes: blockNodes } = tree.end()
      return { count, totalBytes, merkleRoot, blockNodes, manifestDigest: manifest.end() }
    },
  }
}
