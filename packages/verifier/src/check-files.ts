// Compares the files themselves with the list, one after the other, as streams.

import type { FileEntry } from '@svc/protocol/merkle'
import { type ContentHash, hashContent } from '@svc/protocol/sha256'
import { type Fact, failed, notChecked, PASSED } from './facts.ts'
import { quoted } from './untrusted.ts'

/** The source of the files. The verifier only opens names that stay within a folder. */
export interface FileSource {
  /** The bytes of a file, or their hash if it is already computed. Null if there is no file of that name. */
  open(filename: string): Opened | Promise<Opened>
  /** All existing names. Without it, files that are not in the bundle are not detected. */
  names?(): AsyncIterable<string> | Iterable<string>
  /** The names in `names` that belong to a file of the bundle, after it was opened. By default its own name. */
  namesOf?(filename: string): readonly string[]
  /** Whether these are only some of the files. Missing files are then not compared and do not fail. */
  isPartial?: boolean
  /** Called with the result for each file of the bundle: null if it matches. */
  onChecked?(filename: string, problem: FileProblem | null): void
}

type Opened = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | ContentHash | null

const PROBLEMS = ['missing', 'changed', 'unreadable', 'unsafe', 'extra'] as const
export type FileProblem = (typeof PROBLEMS)[number]

export interface FilesReport {
  /** The number of files with the size and hash of the list. */
  matching: number
  /** The number of files with each problem. `unsafe` names would leave the folder, so they were not opened. */
  counts: Record<FileProblem, number>
  /** The first hundred names with each problem. */
  names: Record<FileProblem, string[]>
}

const MAX_NAMES = 100

export interface FileCheck {
  check(files: readonly FileEntry[]): Promise<void>
  /** With `isPartial`, files that were not listed may be in the locker, so they are not reported. */
  end(options?: { isPartial?: boolean }): CheckedFiles
}

export interface CheckedFiles {
  fact: Fact
  report: FilesReport
}

export async function createFileCheck(source: FileSource): Promise<FileCheck> {
  const notInBundle = new Set<string>()
  if (source.names) for await (const name of source.names()) notInBundle.add(name)
  const report = emptyReport()
  let listed = 0

  return {
    async check(files) {
      listed += files.length
      for (const file of files) {
        const problem = await problemOf(file, source)
        const { filename } = file
        for (const name of namesOf(source, filename)) notInBundle.delete(name)
        source.onChecked?.(filename, problem)
        if (problem === 'missing' && source.isPartial) continue
        if (problem) recordProblem(report, problem, filename)
        else report.matching++
      }
    },
    end({ isPartial = false } = {}) {
      if (!isPartial) for (const name of notInBundle) recordProblem(report, 'extra', name)
      return { fact: factOf(report, source.isPartial ? listed : null), report }
    },
  }
}

export function namesOf(source: FileSource, filename: string): readonly string[] {
  return source.namesOf?.(filename) ?? [filename]
}

export function emptyReport(): FilesReport {
  return {
    matching: 0,
    counts: { missing: 0, changed: 0, unreadable: 0, unsafe: 0, extra: 0 },
    names: { missing: [], changed: [], unreadable: [], unsafe: [], extra: [] },
  }
}

/** Records a problem. The name is null if it is unknown. */
export function recordProblem({ counts, names }: FilesReport, problem: FileProblem, filename: string | null): void {
  counts[problem]++
  if (filename !== null && names[problem].length < MAX_NAMES) names[problem].push(filename)
}

async function problemOf(file: FileEntry, source: FileSource): Promise<FileProblem | null> {
  if (!isInsideFolder(file.filename)) return 'unsafe'
  try {
    const bytes = await source.open(file.filename)
    if (bytes === null) return 'missing'
    const found = await contentHash(bytes, file.size_bytes)
    const matches = found?.size_bytes === file.size_bytes && found.content_hash === file.content_hash
    return matches ? null : 'changed'
  } catch {
    return 'unreadable'
  }
}

/** Null if there are more than `maxBytes`. */
export async function contentHash(opened: NonNullable<Opened>, maxBytes: number): Promise<ContentHash | null> {
  return 'content_hash' in opened ? opened : hashContent(opened, maxBytes)
}

/** Whether a name is a relative path of plain parts: no `..`, root, drive, or separator of any system. */
function isInsideFolder(filename: string): boolean {
  if (/[\\\0:]/.test(filename)) return false
  return filename.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

const LABELS: Record<FileProblem, string> = {
  missing: 'missing',
  changed: 'different size or content',
  unreadable: 'unreadable',
  unsafe: 'name leaves the folder',
  extra: 'not in the bundle',
}

/** `listed` is the number of files in the bundle if only some of them had to be compared. */
export function factOf({ matching, counts, names }: FilesReport, listed: number | null): Fact {
  const found = PROBLEMS.filter((problem) => counts[problem] > 0)
  if (found.length === 0) {
    if (listed === null || matching === listed) return PASSED
    return notChecked(`only ${matching} of ${listed} files were compared; they match`)
  }
  const parts = found.map((problem) => `${LABELS[problem]}: ${whichOf(names[problem], counts[problem])}`)
  return failed(parts.join('; '))
}

function whichOf([first]: readonly string[], count: number): string {
  if (first === undefined) return count === 1 ? 'one file' : `${count} files`
  return count > 1 ? `${quoted(first)} and ${count - 1} more` : quoted(first)
}
