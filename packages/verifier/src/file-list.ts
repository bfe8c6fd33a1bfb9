// Files in code-point order, as leaves are taken (Merkle rule 4), without holding a long list.
//
// A bundle may list its files in any order, and gateways list them in this one. Up to a limit all files are held and
// sorted at the end. A list that goes beyond it must be in order from its first file on; its files are let go as they
// come, and a name that stands twice shows by its order.

import { hashManifest, listRow } from '@svc/protocol/file-list'
import { createBlockTree, type FileEntry, leafHash } from '@svc/protocol/merkle'
import { compareCodePoints, sortedByFilename } from '@svc/protocol/order'
import { quoted, RefusedBundle } from './untrusted.ts'

/** About 50,000 files: each counts its name and 100 characters more. */
const HELD_CHARACTERS = 8 * 1024 * 1024
const CHARACTERS_OF_ENTRY = 100

export interface FileOrder {
  take(file: FileEntry): void
  /** The files whose place is known, each once. */
  release(): FileEntry[]
  /** The last of them, when no more come. */
  end(): FileEntry[]
}

export function createFileOrder(): FileOrder {
  let held: FileEntry[] = []
  let heldCharacters = 0
  let isSorted = true
  let last: string | null = null

  return {
    take(file) {
      const order = last === null ? -1 : compareCodePoints(last, file.filename)
      if (order === 0) throw twice(file.filename)
      if (order > 0) isSorted = false
      last = file.filename
      heldCharacters += file.filename.length + CHARACTERS_OF_ENTRY
      held.push(file)
      if (!isSorted && heldCharacters > HELD_CHARACTERS) {
        throw new RefusedBundle(
          'unsorted_file_list',
          `so long a list must be in order; ${quoted(file.filename)} is not`,
        )
      }
    },
    release() {
      return heldCharacters > HELD_CHARACTERS ? handOver() : []
    },
    end() {
      if (!isSorted) {
        held = sortedByFilename(held)
        const repeated = held.find((file, i) => file.filename === held[i - 1]?.filename)
        if (repeated) throw twice(repeated.filename)
      }
      return handOver()
    },
  }

  function handOver(): FileEntry[] {
    const files = held
    held = []
    return files
  }
}

function twice(filename: string): RefusedBundle {
  return new RefusedBundle('duplicate_filename', `${quoted(filename)} stands twice`)
}

// What a file list amounts to: counted and hashed by ourselves, whatever the bundle says.

export interface CountedFiles {
  count: number
  totalBytes: bigint
  /** Bare. */
  merkleRoot: string
  manifestDigest: string
}

export interface FileCounter {
  /** In order. */
  add(files: readonly FileEntry[]): void
  /** Null of no file at all: an empty list has no root (MERK-08). */
  end(): CountedFiles | null
}

/** So many rows become one text. */
const STRETCH = 1000

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
      for (let start = 0; start < files.length; start += STRETCH) {
        manifest.add(
          files
            .slice(start, start + STRETCH)
            .map(listRow)
            .join(),
        )
      }
    },
    end() {
      if (count === 0) return null
      return { count, totalBytes, merkleRoot: tree.end().root, manifestDigest: manifest.end() }
    },
  }
}
