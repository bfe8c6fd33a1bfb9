import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { NamedFiles } from '../named-files.ts'
import { nullIfMissing, onDisk } from './errors.ts'
import { syncFolder } from './folders.ts'

/** Several processes may write to one folder. */
export function openFolderFiles(folder: string): NamedFiles {
  return {
    read: (name) => onDisk(nullIfMissing(readFile(join(folder, name)))),
    write: (name, bytes) => onDisk(replace(join(folder, name), bytes)),
    async remove(name) {
      await onDisk(nullIfMissing(unlink(join(folder, name))))
    },
  }
}

async function replace(path: string, bytes: Uint8Array): Promise<void> {
  await makeFolder(dirname(path))
  const incoming = `${path}.${randomUUID()}`
  try {
    await writeFile(incoming, bytes, { flag: 'wx', mode: 0o644, flush: true })
    await rename(incoming, path)
  } catch (error) {
    await nullIfMissing(unlink(incoming))
    throw error
  }
  await syncFolder(dirname(path))
}

/** New folders survive a power failure, too. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}
