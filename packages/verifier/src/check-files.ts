// Compares the files themselves with the list, one after the other, each as a stream.

import type { FileEntry } from '@svc/protocol/merkle'
import { type ContentHash, hashContent } from '@svc/protocol/sha256'
import { type Fact, failed, notChecked, PASSED } from './facts.ts'
import { quoted } from './untrusted.ts'

/** Where the files are. The verifier only asks for names that stay within a folder. */
export interface FileSource {
  /** The bytes of a file, or their hash where it was computed before; null when there is no file of that name. */
  open(filename: string): Opened | Promise<Opened>
  /** All names that exist. Without it, files that are not in the bundle go unnoticed. */
  names?(): AsyncIterable<string> | Iterable<string>
  /** The names in `names` that belong to a file of the bundle, once it was opened; its own unless told. */
  namesOf?(filename: string): readonly string[]
  /** Whether these are only some of the files: those that are not there are then not compared, and do not fail. */
  isPartial?: boolean
  /** Gets the result for each file of the bundle: null when it matches. */
  onChecked?(filename: string, problem: FileProblem | null): void
}

type Opened = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | ContentHash | null

const PROBLEMS = ['missing', 'changed', 'unreadable', 'unsafe', 'extra'] as const
export type FileProblem = (typeof PROBLEMS)[number]

export interface FilesReport {
  /** Files with the size and hash of the list. */
  matching: number
  /** How many files have which problem. `unsafe` names would leave the folder, so they were not opened. */
  counts: Record<FileProblem, number>
  /** The first hundred names of each. */
  names: Record<FileProblem, string[]>
}

const MAX_NAMES = 100

export interface FileCheck {
  check(files: readonly FileEntry[]): Promise<void>
  /** With `isPartial`, files that were not listed may well be in the locker, so they are not reported. */
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
        if (problem) note(report, problem, filename)
        else report.matching++
      }
    },
    end({ isPartial = false } = {}) {
      if (!isPartial) for (const name of notInBundle) note(report, 'extra', name)
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

/** The name is null where nobody knows it. */
export function note({ counts, names }: FilesReport, problem: FileProblem, filename: string | null): void {
  counts[problem]++
  if (filename !== null && names[problem].length < MAX_NAMES) names[problem].push(filename)
}

async function problemOf(file: FileEntry, source: FileSource): Promise<FileProblem | null> {
  if (!staysInFolder(file.filename)) return 'unsafe'
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

/** Null when there are more bytes than these. */
export async function contentHash(opened: NonNullable<Opened>, maxBytes: number): Promise<ContentHash | null> {
  return 'content_hash' in opened ? opened : hashContent(opened, maxBytes)
}

/** A relative path of plain parts: no `..`, no root, no drive, nothing that some system reads as a separator. */
function staysInFolder(filename: string): boolean {
  if (/[\\\0:]/.test(filename)) return false
  return filename.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

const SENTENCES: Record<FileProblem, string> = {
  missing: 'not there',
  changed: 'of another size or content',
  unreadable: 'not readable',
  unsafe: 'under a name that leaves the folder',
  extra: 'not in the bundle',
}

/** `listed` is the number of files in the bundle where only some were to be compared. */
export function factOf({ matching, counts, names }: FilesReport, listed: number | null): Fact {
  const found = PROBLEMS.filter((problem) => counts[problem] > 0)
  if (found.length === 0) {
    if (listed === null || matching === listed) return PASSED
    return notChecked(`${matching} of ${listed} files were compared, and match`)
  }
  const parts = found.map((problem) => `${whichOf(names[problem], counts[problem])} ${SENTENCES[problem]}`)
  return failed(parts.join('; '))
}

function whichOf([first]: readonly string[], count: number): string {
  if (first === undefined) return count === 1 ? 'one file' : `${count} files`
  return count > 1 ? `${quoted(first)} and ${count - 1} more` : quoted(first)
}
