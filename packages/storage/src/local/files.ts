import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { NamedFiles } from '../named-files.ts'
import { closeFile, openFile, readBytes } from './descriptors.ts'
import { nullIfMissing, onDisk } from './errors.ts'
import { syncFolder } from './folders.ts'

/** Several processes may write to one folder. */
export function openFolderFiles(folder: string): NamedFiles {
  return {
    read: (name) => onDisk(nullIfMissing(readWhole(join(folder, name)))),
    write: (name, bytes) => onDisk(replace(join(folder, name), bytes)),
    async remove(name) {
      await onDisk(nullIfMissing(unlink(join(folder, name))))
    },
  }
}

const SMALL_FILE = 9 * 1024

/** A small file with two jobs for the thread pool, where `readFile` has four that cost more than the reading. */
async function readWhole(path: string): Promise<Uint8Array> {
  const file = await openFile(path, 'r')
  try {
    const { bytesRead, buffer } = await readBytes(file, Buffer.allocUnsafe(SMALL_FILE), 0, SMALL_FILE, 0)
    return bytesRead < SMALL_FILE ? buffer.subarray(0, bytesRead) : await readFile(path)
  } finally {
    closeFile(file)
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
