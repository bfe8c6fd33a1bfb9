// Compares a folder with a bundle that shows leaves but no names: the hash of each file of the folder with its name and
// size must be one of the leaves.

import { type FileEntry, leafHash } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import {
  type CheckedFiles,
  contentHash,
  emptyReport,
  type FileSource,
  type FilesReport,
  factOf,
  namesOf,
  recordProblem,
} from './check-files.ts'
import { type CountedFiles, createFileCounter } from './file-list.ts'

export interface LeafCheck {
  check(leaves: readonly string[]): Promise<void>
  /** Null if the source cannot list its files. */
  end(): (CheckedFiles & { files: CountedFiles | null }) | null
}

export function createLeafCheck(source: FileSource): LeafCheck {
  const report = emptyReport()
  const matching: FileEntry[] = []
  /** The files of the folder by leaf, without those that were found. */
  let others: Map<string, FileEntry> | null = null
  const found = new Set<string>()
  let listed = 0

  return {
    async check(leaves) {
      if (!source.names || leaves.length === 0) return
      listed += leaves.length
      others ??= await filesByLeaf(source, report)
      for (const leaf of leaves) {
        const file = others.get(leaf)
        if (!file) {
          if (!source.isPartial) recordProblem(report, 'missing', null)
          continue
        }
        others.delete(leaf)
        matching.push(file)
        source.onChecked?.(file.filename, null)
        for (const name of namesOf(source, file.filename)) found.add(name)
      }
    },
    end() {
      if (!others) return null
      for (const { filename } of others.values()) if (!found.has(filename)) recordProblem(report, 'extra', filename)
      report.matching = matching.length
      const fact = factOf(report, source.isPartial ? listed : null)
      return { fact, report, files: matching.length === listed ? counted(matching) : null }
    },
  }
}

async function filesByLeaf(source: FileSource, report: FilesReport): Promise<Map<string, FileEntry>> {
  const files = new Map<string, FileEntry>()
  for await (const filename of source.names?.() ?? []) {
    const content = await contentOf(source, filename)
    if (content === null) recordProblem(report, 'unreadable', filename)
    else {
      const file = { filename, ...content }
      files.set(leafHash(file), file)
    }
  }
  return files
}

async function contentOf(source: FileSource, filename: string) {
  try {
    const bytes = await source.open(filename)
    return bytes && (await contentHash(bytes, Number.POSITIVE_INFINITY))
  } catch {
    return null
  }
}

function counted(files: readonly FileEntry[]): CountedFiles | null {
  const counter = createFileCounter()
  counter.add(sortedByFilename(files))
  return counter.end()
}
