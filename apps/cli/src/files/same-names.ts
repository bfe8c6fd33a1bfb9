// Names that are two files in a locker and one on some disks: `A.txt` and `a.txt`, or `é` in two forms.

import { randomUUID } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Equal for names that a disk takes for one. */
export type Folding = (name: string) => string

/** Equal for names that any disk takes for one. Upper case first: `ſ` is another letter than `s` only in lower case. */
export const foldedName: Folding = (name) => name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC')

/** Each name that a disk may take for an earlier one, with that one. */
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

/** What the disk of a folder takes for one: names that differ in case, in the form of an accent, in both or in none. */
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
