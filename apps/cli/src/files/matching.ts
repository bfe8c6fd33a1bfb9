// The files that the arguments of a command name.

import type { ManifestEntry } from '@svc/api/file-entries'
import { ENCRYPTED_ENDING } from '@svc/sdk'
import { Failure } from '../errors.ts'

interface Match {
  /** The argument that matches: the name of the file or of a folder; empty without arguments. */
  name: string
  entry: ManifestEntry
}

/**
 * The files that match the names, or all without names. For plaintext, the ending of encrypted files may be left out.
 * Throws at the end if a name has matched nothing.
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
  const hint = encrypted.length > 0 ? `${encrypted.join(', ')} exists encrypted: use \`svc get --decrypt\`` : null
  throw new Failure(`the locker has no ${[...unused].join(', ')}`, hint ?? '`svc ls` lists its files')
}

function isBelow(filename: string, name: string): boolean {
  return filename === name || filename.startsWith(name.endsWith('/') ? name : `${name}/`)
}
