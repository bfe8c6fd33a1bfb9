import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** As the command line writes it down; other fields are not used here. */
export interface KnownLocker {
  receipt_id: string
  gateway: string
  owner: string | null
  name: string | null
}

/**
 * The lockers that the command line remembers in the same folder. A file that cannot be read is left out, and so are
 * lockers of others that 1.1.0 remembered unasked, with the names that their owners gave them.
 */
export async function knownLockers(stateFolder: string): Promise<KnownLocker[]> {
  const folder = join(stateFolder, 'lockers')
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => /^rcpt_[0-9a-f]{32}\.json$/.test(name))
  const lockers = await Promise.all(files.map((name) => readLocker(join(folder, name))))
  return lockers.filter((locker) => locker !== null)
}

async function readLocker(path: string): Promise<KnownLocker | null> {
  try {
    const { receipt_id, gateway, owner, name, operator } = JSON.parse(await readFile(path, 'utf8'))
    return operator === undefined ? { receipt_id, gateway, owner: owner ?? null, name: name ?? null } : null
  } catch {
    return null
  }
}
