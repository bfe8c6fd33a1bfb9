// The files that a command line names.

import type { ManifestEntry } from '@svc/api/file-entries'
import { Failure } from '../errors.ts'

interface Match {
  /** The name on the command line: the file's own, or that of a folder; empty if none were given. */
  name: string
  entry: ManifestEntry
}

/** The files that match the names, or all if none are given. Throws at the end if a name has matched nothing. */
export async function* matching(
  entries: AsyncIterable<ManifestEntry>,
  names: readonly string[],
): AsyncGenerator<Match> {
  const unused = new Set(names)
  for await (const entry of entries) {
    const name = names.length === 0 ? '' : names.find((name) => isBelow(entry.filename, name))
    if (name === undefined) continue
    unused.delete(name)
    yield { name, entry }
  }
  if (unused.size > 0) throw new Failure(`there is no ${[...unused].join(', ')}`, '`svc ls` shows what is there')
}

function isBelow(filename: string, name: string): boolean {
  return filename === name || filename.startsWith(name.endsWith('/') ? name : `${name}/`)
}
