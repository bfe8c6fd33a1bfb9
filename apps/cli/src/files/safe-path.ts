// The path of a downloaded file. Names come from a gateway and are not trusted: neither a name nor an existing symbolic
// link may lead out of the folder.

import { lstat, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { UntrueAnswer } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import { hashOfFile } from './unchanged.ts'

/** The path of a file below a folder; creates the folders in between. */
export async function safePath(folder: string, name: string): Promise<string> {
  requireSafeName(name)
  const parts = name.split('/')
  const last = parts.pop() as string
  let path = folder
  for (const part of parts) {
    path = join(path, part)
    await requireFolder(path)
  }
  return join(path, last)
}

/** A gateway should never have accepted an invalid name. */
export function requireSafeName(name: string): void {
  const problem = filenameProblem(name, DEFAULT_SYSTEM_PREFIX)
  if (problem) throw new UntrueAnswer(`a file is called ${JSON.stringify(name)}, which ${problem}`)
}

async function requireFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  if (!(await lstat(path)).isDirectory())
    throw new Failure(`${path} is in the way: it is not a folder, or a link to one`)
}

export interface GetOptions {
  /** The target folder. */
  out: string
  overwrite?: boolean
  /** Whether a symbolic link in the place of the file is left as it is, also where files are replaced. */
  keepLinks?: boolean
}

interface Expected {
  size_bytes: number | null
  content_hash: string | null
}

/** Whether the file is on disk with this size and hash. Throws if another file is in the way. */
export async function isOnDisk(name: string, expected: Expected, options: GetOptions): Promise<boolean> {
  const { out, overwrite, keepLinks } = options
  const path = await safePath(out, name)
  const facts = await stat(path).catch(() => null)
  if (facts?.isFile() && (await isSame(path, facts.size, expected))) return true
  if (keepLinks) await requireNoLink(path)
  if (!facts) return false
  if (overwrite && facts.isFile()) return false
  if (facts.isFile())
    throw new Failure(`${path} is there with other bytes; --overwrite replaces it`, 'nothing was changed there')
  throw new Failure(`${path} is in the way: it is not a file`, 'move it away, or name another folder with --out')
}

export async function requireNoLink(path: string): Promise<void> {
  const facts = await lstat(path).catch(() => null)
  if (facts?.isSymbolicLink()) throw new Failure(`${path} is a link: it was not replaced`)
}

async function isSame(path: string, size: number, { size_bytes, content_hash }: Expected): Promise<boolean> {
  return (size_bytes === null || size === size_bytes) && (await hashOfFile(path)) === content_hash
}
