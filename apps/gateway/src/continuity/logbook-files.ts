// The files of a logbook, and how they are read.

import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { NonceTable } from '@svc/guard/tables'
import { type Entry, readLine, readNonce } from './entries.ts'

export const LOG = '.log'
export const NONCE = '.nonce'
/** Holds the id of the folder. */
export const ID = 'id'
/** A file that was not touched for this long belongs to nobody. */
export const ALIVE_MS = 20_000

interface LogbookFile {
  path: string
  mtimeMs: number
  size: number
}

/** The last touched first. */
export async function filesIn(folder: string, ending = LOG): Promise<LogbookFile[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files: LogbookFile[] = []
  for (const name of names.filter((each) => each.endsWith(ending))) {
    const path = join(folder, name)
    // Another process may be removing it.
    const found = await stat(path).catch(() => null)
    if (found) files.push({ path, mtimeMs: found.mtimeMs, size: found.size })
  }
  return files.sort((a, b) => b.mtimeMs - a.mtimeMs)
}

export interface WrittenFile {
  /** Unix milliseconds. */
  touchedMs: number
  /** From its end. Take as many as are of interest. */
  pages: () => AsyncGenerator<Dated[]>
}

/** The last touched first. */
export async function* readBackwards(folder: string): AsyncGenerator<WrittenFile> {
  for (const { path, mtimeMs } of await filesIn(folder)) yield { touchedMs: mtimeMs, pages: () => pagesFromEnd(path) }
}

export interface Dated {
  at: number
  entry: Entry
}

/** About a thousand entries. */
const PAGE_BYTES = 128 * 1024

/** From the end, each page in the order it was written. A line that is not whole was cut off by a crash. */
async function* pagesFromEnd(path: string): AsyncGenerator<Dated[]> {
  const file = await open(path, 'r')
  try {
    let end = (await file.stat()).size
    let rest = Buffer.alloc(0)
    while (end > 0) {
      const start = Math.max(0, end - PAGE_BYTES)
      const block = Buffer.alloc(end - start)
      await file.read(block, 0, block.length, start)
      const bytes = Buffer.concat([block, rest])
      const firstLine = start === 0 ? 0 : bytes.indexOf('\n') + 1
      rest = bytes.subarray(0, firstLine)
      end = start
      const lines = bytes.subarray(firstLine).toString().split('\n')
      const entries = lines.map(readLine).filter((read) => read !== null)
      if (entries.length > 0) yield entries
    }
  } finally {
    await file.close()
  }
}

/** The last nonces of all processes that wrote here. */
export async function readNonces(folder: string): Promise<NonceTable[]> {
  const nonces: NonceTable[] = []
  for (const { path } of await filesIn(folder, NONCE)) {
    const nonce = readNonce(await readFile(path, 'utf8').catch(() => ''))
    if (nonce) nonces.push(nonce)
  }
  return nonces
}

/** Null where nothing was written yet. */
export async function readLogbookId(folder: string): Promise<string | null> {
  return readFile(join(folder, ID), 'utf8').catch(() => null)
}
