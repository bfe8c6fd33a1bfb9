// Names that are two files in a locker but one file on some disks: `A.txt` and `a.txt`, or `é` in two forms.

import { randomUUID } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns equal text for names that a disk treats as one. */
export type Folding = (name: string) => string

/**
 * Returns equal text for names that any disk treats as one. Upper case first: `ſ` differs from `s` only in lower case.
 */
export const foldedName: Folding = (name) => name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC')

/** Maps each name that a disk may treat as an earlier name to that earlier name. */
export function sameNames(names: Iterable<string>, folding = foldedName): Map<string, string> {
  const first = new Map<string, string>()
  const same = new Map<string, string>()
  for (const name of names) {
    const key = folding(name)
    const other = first.get(key)
    if (other === undefined) first.set(key, name)
    else same.set(name, other)
  }
  return same
}

/** The folding of a folder's disk: it may ignore case, the form of accents, both or neither. */
export async function foldingOf(folder: string): Promise<Folding> {
  const name = `.${randomUUID()}\u00e9.part`
  const probe = join(folder, name)
  const isProbe = async (other: string) => (await stat(join(folder, other)).catch(() => null)) !== null
  await writeFile(probe, '', { flag: 'wx' })
  try {
    const foldsForms = await isProbe(name.normalize('NFD'))
    const foldsCase = await isProbe(name.toUpperCase())
    if (foldsCase) return foldsForms ? foldedName : (other) => other.toUpperCase().toLowerCase()
    return (other) => (foldsForms ? other.normalize('NFC') : other)
  } finally {
    await rm(probe, { force: true })
  }
}
