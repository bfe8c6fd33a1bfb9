// Looks up files by their content in the list of a bundle, whatever their names are.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { hashContent } from '@svc/protocol/sha256'
import type { PlacedFile } from '@svc/verifier/inclusion'
import { UsageError } from '../errors.ts'

export interface FoundFile {
  /** The path of the file, as given. */
  file: string
  content_hash: string
  size_bytes: number
  /** How many listed files have this content. */
  count: number
  /** The first hundred of their names. */
  names: string[]
}

export interface FileFinder {
  /** Compares the next files of the list. */
  compare(listed: readonly PlacedFile[]): void
  found: readonly FoundFile[]
}

const MAX_NAMES = 100

export async function fileFinder(paths: readonly string[], signal: AbortSignal): Promise<FileFinder> {
  const found: FoundFile[] = []
  const byHash = new Map<string, FoundFile[]>()
  for (const path of paths) {
    const file = { file: path, ...(await contentOf(path, signal)), count: 0, names: [] }
    found.push(file)
    byHash.set(file.content_hash, [...(byHash.get(file.content_hash) ?? []), file])
  }
  return {
    found,
    compare(listed) {
      for (const { filename, content_hash, size_bytes } of listed) {
        for (const file of byHash.get(content_hash) ?? []) {
          if (file.size_bytes !== size_bytes) continue
          file.count++
          if (file.names.length < MAX_NAMES) file.names.push(filename)
        }
      }
    },
  }
}

async function contentOf(path: string, signal: AbortSignal): Promise<{ content_hash: string; size_bytes: number }> {
  const facts = await stat(path).catch(() => null)
  if (!facts?.isFile())
    throw new UsageError(`--find ${path}: ${facts ? 'it is not a file' : 'the file does not exist'}`)
  const content = await hashContent(
    createReadStream(path, { highWaterMark: 1024 * 1024, signal }),
    Number.POSITIVE_INFINITY,
  )
  return content as NonNullable<typeof content> // null only beyond a limit
}
