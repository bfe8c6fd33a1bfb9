import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { link, lstat, mkdir, readdir, rm, unlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { requireObjectId } from '../object-rules.ts'
import { closeFile, openFile, syncFile } from './descriptors.ts'
import { isDiskFull, nullIfMissing } from './errors.ts'

export interface Folders {
  objectPath(id: string): string
  /** The path of an object until it is complete. */
  incomingPath(id: string): string
  /** The folder of an object that is written in parts. */
  partsPath(id: string): string
  /** Its folder once it accepts no more parts. */
  sealedPath(id: string): string
  /** Runs the steps of a write, so that it fails like a write. */
  probe(): Promise<void>
}

const PREFIXES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const PRIVATE = 0o700
const LEFTOVER_AGE_MS = 24 * 3600 * 1000

/** Creates all folders at the start, so that no write must create one durably. */
export async function openFolders(folder: string): Promise<Folders> {
  const objects = join(resolve(folder), 'objects')
  const incoming = join(resolve(folder), 'incoming')
  const firstCreated = await mkdir(objects, { recursive: true, mode: PRIVATE })
  await mkdir(incoming, { recursive: true, mode: PRIVATE })
  await createPrefixes(objects)
  await syncUpTo(firstCreated ? dirname(firstCreated) : dirname(objects), objects)
  await sweep(incoming)
  await sweep(objects)

  const folders: Folders = {
    objectPath: (id) => join(objects, requireObjectId(id).slice(0, 2), id),
    incomingPath: (id) => join(incoming, requireObjectId(id)),
    partsPath: (id) => join(incoming, `${requireObjectId(id)}.parts`),
    sealedPath: (id) => join(incoming, `${requireObjectId(id)}.sealed`),
    async probe() {
      const name = `probe-${randomUUID()}`
      try {
        await writeFile(join(incoming, name), Buffer.alloc(4096), { flag: 'wx' })
        await link(join(incoming, name), join(objects, name))
      } finally {
        await rm(join(incoming, name), { force: true })
        await rm(join(objects, name), { force: true })
      }
    },
  }
  await folders.probe().catch((error) => {
    // A full disk can still be read.
    if (!isDiskFull(error)) throw error
  })
  return folders
}

async function createPrefixes(objects: string): Promise<void> {
  const entries = new Map((await readdir(objects, { withFileTypes: true })).map((entry) => [entry.name, entry]))
  const obstacle = PREFIXES.find((prefix) => entries.get(prefix)?.isDirectory() === false)
  if (obstacle) throw new Error(`${join(objects, obstacle)} is not a folder`)
  const missing = PREFIXES.filter((prefix) => !entries.has(prefix))
  // Recursive, because another process may create them too; synchronous, because threads take five times as long.
  for (const prefix of missing) mkdirSync(join(objects, prefix), { recursive: true, mode: PRIVATE })
}

/** Makes created and removed names in a folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await openFile(path, 'r')
  try {
    await syncFile(folder)
  } finally {
    closeFile(folder)
  }
}

async function syncUpTo(top: string, path: string): Promise<void> {
  await syncFolder(path)
  if (path !== top) await syncUpTo(top, dirname(path))
}

/**
 * Files here belong to running writes, possibly of another process, or to a dead process. No running write leaves its
 * file untouched for a day. File times use the system clock, so this does too.
 */
async function sweep(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) continue
    const path = join(folder, entry.name)
    const found = await nullIfMissing(lstat(path))
    if (found && Date.now() - found.mtimeMs > LEFTOVER_AGE_MS) await nullIfMissing(unlink(path))
  }
}
