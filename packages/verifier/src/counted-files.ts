// What a file list amounts to: counted and hashed by ourselves, whatever the bundle says.

import { hashManifest, listRow } from '@svc/protocol/file-list'
import { type FileEntry, leafHash } from '@svc/protocol/merkle'
import { createBlockTree } from '@svc/protocol/merkle-blocks'

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
