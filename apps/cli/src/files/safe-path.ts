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
    throw new Failure(`${path} is in the way: it is not a folder, or is a link to a folder`)
}

export interface GetOptions {
  /** The target folder. */
  out: string
  /** The path of the only file, which then has no name below the target folder. */
  file?: string | undefined
  overwrite?: boolean
  /** Decrypts encrypted downloads. */
  decrypt?: Decrypt | null
  /** Whether to keep a symbolic link at the path of the file, even if other files are replaced. */
  keepLinks?: boolean
}

interface Expected {
  /** The name in the locker. */
  filename: string
  size_bytes: number | null
  content_hash: string | null
}

/**
 * Whether the file is on disk with this size and hash, decrypted if requested. `name` is its name on disk before
 * decryption. Throws if another file is in the way.
 */
export async function isOnDisk(name: string, expected: Expected, options: GetOptions): Promise<boolean> {
  const { overwrite, keepLinks } = options
  const path = await targetPath(decryptedName(name, options), options)
  const facts = await stat(path).catch(() => null)
  const decrypt = decryptedName(name, options) === name ? null : options.decrypt
  if (facts?.isFile() && (await isSame(path, facts.size, expected, decrypt ?? null))) return true
  if (keepLinks) await requireNoLink(path)
  if (!facts) return false
  if (overwrite && facts.isFile()) return false
  if (facts.isFile())
    throw new Failure(`${path} already exists with other content; --overwrite replaces it`, 'the file was not changed')
  throw new Failure(`${path} is in the way: it is not a file`, 'move it away, or name another folder with --out')
}

/** Where a file of this name is saved. */
export function targetPath(name: string, { out, file }: GetOptions): Promise<string> | string {
  return file ?? safePath(out, name)
}

export async function requireNoLink(path: string): Promise<void> {
  const facts = await lstat(path).catch(() => null)
  if (facts?.isSymbolicLink()) throw new Failure(`${path} is a link: it was not replaced`)
}

async function isSame(path: string, size: number, expected: Expected, decrypt: Decrypt | null): Promise<boolean> {
  const { filename, size_bytes, content_hash } = expected
  if (decrypt) return (await decrypt.hashEncrypted(path, filename)) === content_hash
  return (size_bytes === null || size === size_bytes) && (await hashOfFile(path)) === content_hash
}

/** The name without the ending of encrypted files, if they are decrypted. */
export function decryptedName(name: string, { decrypt }: GetOptions): string {
  return decrypt ? plainName(name) : name
}
