// The files that a command line names.

import type { ManifestEntry } from '@svc/api/file-entries'
import { ENCRYPTED_ENDING } from '@svc/sdk'
import { Failure } from '../errors.ts'

interface Match {
  /** The name on the command line: the file's own, or that of a folder; empty if none were given. */
  name: string
  entry: ManifestEntry
}

/**
 * The files that match the names, or all if none are given. Who wants plaintext may leave out the ending of encrypted
 * files. Throws at the end if a name has matched nothing.
 */
export async function* matching(
  entries: AsyncIterable<ManifestEntry>,
  names: readonly string[],
  { isPlaintextWanted = false }: { isPlaintextWanted?: boolean } = {},
): AsyncGenerator<Match> {
  const unused = new Set(names)
  const encrypted: string[] = []
  for await (const entry of entries) {
    const { filename } = entry
    const isEncryptedForm = (name: string) => filename === name + ENCRYPTED_ENDING
    const name =
      names.length === 0
        ? ''
        : names.find((name) => isBelow(filename, name) || (isPlaintextWanted && isEncryptedForm(name)))
    if (name === undefined) {
      if (names.some(isEncryptedForm)) encrypted.push(filename)
      continue
    }
    unused.delete(name)
    yield { name, entry }
  }
  if (unused.size === 0) return
  const hint = encrypted.length > 0 ? `there is ${encrypted.join(', ')}, encrypted: see --decrypt of \`svc get\`` : null
  throw new Failure(`there is no ${[...unused].join(', ')}`, hint ?? '`svc ls` shows what is there')
}

function isBelow(filename: string, name: string): boolean {
  return filename === name || filename.startsWith(name.endsWith('/') ? name : `${name}/`)
}
