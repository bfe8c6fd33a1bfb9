// What is in a folder, by names that are the same on every system. Nothing is passed over in silence.

import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fromUtf8 } from '@svc/protocol/bytes'
import type { IsSecret } from './secrets.ts'

export interface FoundFile {
  /** Relative to the folder, with `/`. */
  name: string
  path: string
  size: number
}

export type Found = FoundFile | { name: string; leftOut: string }

export interface WalkOptions {
  /** Whether to go where symbolic links lead. */
  follow?: boolean
  /** Names that are left out, with all that is below them. */
  isExcluded?: (name: string) => boolean
  isSecret?: IsSecret
}

/** In order of names within each folder. */
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
    else if (options.isExcluded?.(name)) yield { name, leftOut: 'excluded' }
    else yield* found(join(folder, text), name, entry, above, options)
  }
}

async function* found(
  path: string,
  name: string,
  entry: Dirent<Buffer>,
  above: readonly string[],
  options: WalkOptions,
): AsyncGenerator<Found> {
  if (entry.isSymbolicLink() && !options.follow) return yield { name, leftOut: 'a symbolic link' }
  const facts = await stat(path).catch(() => null)
  if (!facts) return yield { name, leftOut: 'a symbolic link to nothing' }
  if (options.isSecret?.(facts)) return yield { name, leftOut: 'it holds your keys' }
  if (facts.isFile()) return yield { name, path, size: facts.size }
  if (!facts.isDirectory()) return yield { name, leftOut: 'neither a file nor a folder' }
  const real = await realpath(path)
  if (above.includes(real)) return yield { name, leftOut: 'a symbolic link to a folder that it is in' }
  yield* walkBelow(path, `${name}/`, [...above, real], options)
}
