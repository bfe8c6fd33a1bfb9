// Folders on disk: their entries with names that are the same on every system, and their files for the verifier.

import { constants, type Dirent, type Stats } from 'node:fs'
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fromUtf8 } from '@svc/protocol/bytes'
import { isUnfinishedDownload } from './files.ts'

export interface FoundFile {
  /** Relative to the folder, with `/`. */
  name: string
  path: string
  size: number
}

export type Found = FoundFile | { name: string; leftOut: string }

export interface WalkOptions {
  /** Whether to follow symbolic links. */
  follow?: boolean
  /** Names to leave out. The name of a folder ends with a slash and includes everything below it. */
  isExcluded?: (name: string) => boolean
  /** Files and folders that contain keys. They are left out under any path. */
  isSecret?: (facts: Stats) => boolean
  /** Called before a symbolic link is followed. */
  mayFollow?: (path: string) => Promise<boolean>
}

/** Every entry of a folder, sorted by name within each folder. Entries that are left out have a reason. */
export async function* walk(folder: string, options: WalkOptions = {}): AsyncGenerator<Found> {
  yield* walkBelow(folder, '', [await realpath(folder)], options)
}

async function* walkBelow(
  folder: string,
  prefix: string,
  above: readonly string[],
  options: WalkOptions,
): AsyncGenerator<Found> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  if (entries.length === 0 && prefix !== '') yield { name: prefix, leftOut: 'an empty folder' }
  for (const entry of entries.sort((a, b) => Buffer.compare(a.name, b.name))) {
    const text = fromUtf8(entry.name)
    const name = prefix + (text ?? entry.name.toString('latin1'))
    if (text === null) yield { name, leftOut: 'a name that is not UTF-8' }
    else if (isUnfinishedDownload(text)) yield { name, leftOut: 'an unfinished download' }
    else if (await isExcluded(join(folder, text), name, entry, options)) yield { name, leftOut: 'excluded' }
    else yield* found(join(folder, text), name, entry, above, options)
  }
}

async function isExcluded(
  path: string,
  name: string,
  entry: Dirent<Buffer>,
  { isExcluded, follow }: WalkOptions,
): Promise<boolean> {
  if (!isExcluded) return false
  const isLinkToFolder = follow && entry.isSymbolicLink() && (await stat(path).catch(() => null))?.isDirectory()
  return isExcluded(entry.isDirectory() || isLinkToFolder ? `${name}/` : name)
}

async function* found(
  path: string,
  name: string,
  entry: Dirent<Buffer>,
  above: readonly string[],
  options: WalkOptions,
): AsyncGenerator<Found> {
  if (entry.isSymbolicLink() && !options.follow) return yield { name, leftOut: 'a symbolic link' }
  if (entry.isSymbolicLink() && options.mayFollow && !(await options.mayFollow(path)))
    return yield { name, leftOut: 'a symbolic link whose target must not be read' }
  const facts = await stat(path).catch(() => null)
  if (!facts) return yield { name, leftOut: 'a symbolic link to nothing' }
  if (options.isSecret?.(facts)) return yield { name, leftOut: 'it contains your keys' }
  if (facts.isFile()) return yield { name, path, size: facts.size }
  if (!facts.isDirectory()) return yield { name, leftOut: 'neither a file nor a folder' }
  const real = await realpath(path)
  if (above.includes(real)) return yield { name, leftOut: 'a symbolic link to a folder that it is in' }
  yield* walkBelow(path, `${name}/`, [...above, real], options)
}

export interface FolderOptions extends Pick<WalkOptions, 'mayFollow' | 'isExcluded'> {
  /** Whether the folder may have files that the bundle does not list. */
  allowExtra?: boolean
  /** Opens a regular file. Null if there is none. Throws if the file must not be read. */
  openFile?: (path: string) => Promise<FileHandle | null>
}

/**
 * The files of a folder as a source for the verifier. Symbolic links are followed for both listing and reading. All
 * other entries except empty folders and excluded names count as files that the bundle does not list.
 */
export function folderSource(folder: string, options: FolderOptions = {}) {
  const { allowExtra = false, openFile = openRegularFile, mayFollow, isExcluded } = options
  const listing = { follow: true, ...(mayFollow && { mayFollow }), ...(isExcluded && { isExcluded }) }
  return {
    async open(name: string) {
      const file = await openFile(join(folder, name))
      return file === null ? null : file.createReadStream({ start: 0, highWaterMark: 1024 * 1024 })
    },
    ...(!allowExtra && { names: () => namesIn(folder, listing) }),
  }
}

const UNCOUNTED = ['an empty folder', 'excluded']

async function* namesIn(folder: string, options: WalkOptions): AsyncGenerator<string> {
  for await (const found of walk(folder, options)) {
    if (!('leftOut' in found && UNCOUNTED.includes(found.leftOut))) yield found.name
  }
}

async function openRegularFile(path: string): Promise<FileHandle | null> {
  // Opening a pipe must not wait for its other end.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  if (!file || (await file.stat()).isFile()) return file
  await file.close()
  return null
}
