// The path of a downloaded file. Names come from a gateway and are not trusted: neither a name nor an existing symbolic
// link may lead out of the folder.

import { lstat, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { plainName } from '@svc/sdk'
import { UntrueAnswer } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import type { Decrypt } from './encryption.ts'
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
  /** Decrypts what is encrypted. */
  decrypt?: Decrypt | null
}

interface Recorded {
  filename: string
  content_hash: string | null
}

/** Whether the file is on disk with this hash, decrypted if that is asked for. Throws if another file is in the way. */
export async function isOnDisk({ filename, content_hash }: Recorded, options: GetOptions): Promise<boolean> {
  const { out, overwrite, decrypt } = options
  const isPlain = !decrypt || plainName(filename) === filename
  const path = await safePath(out, isPlain ? filename : plainName(filename))
  const facts = await stat(path).catch(() => null)
  if (!facts) return false
  if (facts.isFile() && content_hash !== null) {
    const hash = isPlain ? await hashOfFile(path) : await decrypt.hashEncrypted(path, filename)
    if (hash === content_hash) return true
  }
  if (overwrite && facts.isFile()) return false
  throw new Failure(`${path} is there with other bytes; --overwrite replaces it`)
}
