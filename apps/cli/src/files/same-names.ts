// Names that are two files in a locker and one on some disks: `A.txt` and `a.txt`, or `é` in two forms.

import { randomUUID } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Each name that a disk may take for an earlier one, with that one. */
export function sameNames(names: Iterable<string>): Map<string, string> {
  const first = new Map<string, string>()
  const same = new Map<string, string>()
  for (const name of names) {
    const key = foldedName(name)
    const other = first.get(key)
    if (other === undefined) first.set(key, name)
    else same.set(name, other)
  }
  return same
}

/** Equal for names that some disk takes for one. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Whether the disk of a folder takes names that differ in case, or in the form of an accent, for one. */
export async function foldsNames(folder: string): Promise<boolean> {
  const id = randomUUID()
  const probe = join(folder, `.${id}.part`)
  await writeFile(probe, '', { flag: 'wx' })
  try {
    return (await stat(join(folder, `.${id.toUpperCase()}.PART`)).catch(() => null)) !== null
  } finally {
    await rm(probe, { force: true })
  }
}
