// A file list, put in code-point order (Merkle rule 4), counted and hashed, without holding a long list in memory.
//
// A bundle may list its files in any order; gateways write them in code-point order. Up to a limit all files are held and
// sorted at the end. A longer list must be in order from its first file on. Its files are released as they arrive, and a
// repeated name shows by its order.

import { hashManifest, listRow } from '@svc/protocol/file-list'
import { createBlockTree, type FileEntry, leafHash } from '@svc/protocol/merkle'
import { compareCodePoints, sortedByFilename } from '@svc/protocol/order'
import { quoted, RefusedBundle } from './untrusted.ts'

/** About 50,000 files. Each counts its name and 100 characters more. */
const MAX_HELD_CHARACTERS = 8 * 1024 * 1024
const CHARACTERS_PER_ENTRY = 100

export interface FileOrder<File extends FileEntry> {
  take(file: File): void
  /** The files whose position is known, each once. */
  release(): File[]
  /** The remaining files, when no more come. */
  end(): File[]
}

export function createFileOrder<File extends FileEntry>(): FileOrder<File> {
  let held: File[] = []
  let heldCharacters = 0
  let isSorted = true
  let last: string | null = null

  return {
    take(file) {
      const order = last === null ? -1 : compareCodePoints(last, file.filename)
      if (order === 0) throw duplicate(file.filename)
      if (order > 0) isSorted = false
      last = file.filename
      heldCharacters += file.filename.length + CHARACTERS_PER_ENTRY
      held.push(file)
      if (!isSorted && heldCharacters > MAX_HELD_CHARACTERS) {
        throw new RefusedBundle(
          'unsorted_file_list',
          `so long a list must be in order; ${quoted(file.filename)} is not`,
        )
      }
    },
    release() {
      return heldCharacters > MAX_HELD_CHARACTERS ? takeHeld() : []
    },
    end() {
      if (!isSorted) {
        held = sortedByFilename(held)
        const repeated = held.find((file, i) => file.filename === held[i - 1]?.filename)
        if (repeated) throw duplicate(repeated.filename)
      }
      return takeHeld()
    },
  }

  function takeHeld(): File[] {
    const files = held
    held = []
    return files
  }
}

function duplicate(filename: string): RefusedBundle {
  return new RefusedBundle('duplicate_filename', `${quoted(filename)} stands twice`)
}

/** Counted and hashed here, whatever the bundle says. */
export interface CountedFiles {
  count: number
  totalBytes: bigint
  /** Bare. */
  merkleRoot: string
  /** The nodes above each block of leaves, from which `proofInBlocks` makes proofs. */
  blockNodes: readonly string[]
  manifestDigest: string
}

export interface FileCounter {
  /** Files in code-point order. */
  add(files: readonly FileEntry[]): void
  /** Null when there was no file: an empty list has no root (MERK-08). */
  end(): CountedFiles | null
}

/** How many rows are hashed as one text. */
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
