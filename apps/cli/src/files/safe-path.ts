// Where a file of a locker goes on disk. Names come from a gateway, which may lie: nothing may get out of the folder,
// neither by its name nor through a link that is there already.

import { lstat, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { UntrueAnswer } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import { hashOfFile } from './unchanged.ts'

/** The path of a file below a folder, with the folders on the way made. */
export async function safePath(folder: string, name: string): Promise<string> {
  requireHarmless(name)
  const parts = name.split('/')
  const last = parts.pop() as string
  let path = folder
  for (const part of parts) {
    path = join(path, part)
    await requireFolder(path)
  }
  return join(path, last)
}

/** A name that this gateway should never have taken. */
export function requireHarmless(name: string): void {
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
  /** The folder that files go to. */
  out: string
  overwrite?: boolean
}

/** Whether a file is on disk with just these bytes. Throws where others are in the way. */
export async function isOnDisk(name: string, hash: string | null, { out, overwrite }: GetOptions): Promise<boolean> {
  const path = await safePath(out, name)
  const facts = await stat(path).catch(() => null)
  if (!facts) return false
  if (facts.isFile() && (await hashOfFile(path)) === hash) return true
  if (overwrite && facts.isFile()) return false
  throw new Failure(`${path} is there with other bytes; --overwrite replaces it`)
}
