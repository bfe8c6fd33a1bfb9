// The files that tools may read: they are below one folder after resolving links, are not hidden, and contain no keys.

import { constants } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { Misuse } from '../errors.ts'
import { Refusal } from './errors.ts'
import type { Settings } from './settings.ts'

export interface Root {
  /** Null if no file may be read. */
  readonly folder: string | null
  /** Opens a file; the caller closes it. */
  open(path: string): Promise<FileHandle>
  /** Opens a file; null if it does not exist. */
  openIfThere(path: string): Promise<FileHandle | null>
  /** The real path of a folder. */
  enter(path: string): Promise<string>
  /** Whether a path may be read. */
  mayRead(path: string): Promise<boolean>
}

export async function openRoot({ root, home, secrets }: Pick<Settings, 'root' | 'home' | 'secrets'>): Promise<Root> {
  const folder = await realRoot(root.folder)
  if (root.isImplied && (await containsHome(folder, home))) return noRoot(folder)

  /** Resolves a path; throws if it may not be read. */
  async function real(path: string): Promise<string> {
    if (path.includes('\0')) throw outside(path, folder)
    const found = await realpath(resolve(folder, path)).catch((error: NodeJS.ErrnoException) => {
      // Do not reveal what exists outside the root.
      throw isBelow(resolve(folder, path), folder) ? missing(path, error) : outside(path, folder)
    })
    if (!isBelow(found, folder)) throw outside(path, folder)
    if (
      relative(folder, found)
        .split(sep)
        .some((part) => part.startsWith('.'))
    )
      throw hidden(path)
    for (const secret of secrets) if (isBelow(found, await realpath(secret).catch(() => secret))) throw hidden(path)
    return found
  }

  async function openFile(path: string): Promise<FileHandle> {
    const found = await real(path)
    // O_NONBLOCK: opening a pipe must not wait for a writer.
    const file = await open(found, constants.O_RDONLY | constants.O_NONBLOCK).catch((error) => {
      throw missing(path, error)
    })
    try {
      await requireSame(file, path, await real(path))
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  return {
    folder,
    open: openFile,
    openIfThere: (path) => openFile(path).catch(nullIfMissing),
    async enter(path) {
      const found = await real(path)
      if ((await stat(found)).isDirectory()) return found
      throw new Refusal('not_a_folder', `${JSON.stringify(path)} is not a folder`)
    },
    mayRead: (path) =>
      real(path).then(
        () => true,
        () => false,
      ),
  }
}

async function realRoot(folder: string): Promise<string> {
  const found = await realpath(folder).catch(({ code }: NodeJS.ErrnoException) => {
    throw badRoot(folder, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`)
  })
  if ((await stat(found)).isDirectory()) return found
  throw badRoot(folder, 'is not a folder')
}

function badRoot(folder: string, why: string): Misuse {
  return new Misuse('svc mcp', `SVC_MCP_ROOT: ${folder} ${why}`)
}

/** Whether a folder is `/`, the home folder or a parent of it. Many clients start their servers in one of these. */
async function containsHome(folder: string, home: string | null): Promise<boolean> {
  if (folder === dirname(folder)) return true
  return home !== null && isBelow(await realpath(home).catch(() => home), folder)
}

function noRoot(folder: string): Root {
  const refuse = async () => {
    throw new Refusal(
      'no_root',
      `this server reads no files: it runs in ${folder}, which was not set as its folder`,
      'The user must set SVC_MCP_ROOT to the folder with the files; everything else works without it',
    )
  }
  return { folder: null, open: refuse, openIfThere: refuse, enter: refuse, mayRead: async () => false }
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Refusal && error.code === 'path_unreadable') return null
  throw error
}

/** Detects a link that was changed between the check and the opening. */
async function requireSame(file: FileHandle, path: string, found: string): Promise<void> {
  const [opened, named] = [await file.stat(), await stat(found)]
  if (opened.dev !== named.dev || opened.ino !== named.ino)
    throw new Refusal('path_changed', `${JSON.stringify(path)} changed while it was opened`)
  if (!opened.isFile()) throw new Refusal('not_a_file', `${JSON.stringify(path)} is not a regular file`)
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function outside(path: string, folder: string): Refusal {
  const hint = 'Ask the user to put the file there, or to start the server with another SVC_MCP_ROOT'
  return new Refusal('path_outside_root', `${JSON.stringify(path)} is not below ${folder}`, hint)
}

function hidden(path: string): Refusal {
  const message = `${JSON.stringify(path)} is hidden or contains keys: such files are not read`
  return new Refusal('path_hidden', message, 'Files whose names begin with a dot often contain secrets')
}

function missing(path: string, { code }: NodeJS.ErrnoException): Refusal {
  const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be read (${code})`
  return new Refusal('path_unreadable', `${JSON.stringify(path)} ${why}`)
}
