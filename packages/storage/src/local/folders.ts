import { randomUUID } from 'node:crypto'
import { link, lstat, mkdir, readdir, rm, unlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isHex } from '@svc/protocol/bytes'
import { isNoRoom, nullIfMissing, syncFolder } from './errors.ts'

export interface Folders {
  objectPath(id: string): string
  /** Where an object is until it is whole. */
  incomingPath(id: string): string
  /** Takes the way of a write, so that it fails as a write would. */
  probe(): Promise<void>
}

const PREFIXES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const OURS_ALONE = 0o700
const LEFTOVER_AGE_MS = 24 * 3600 * 1000

/** Makes all folders there will ever be, so that no write has to make one and see that it lasts. */
export async function openFolders(folder: string): Promise<Folders> {
  const objects = join(resolve(folder), 'objects')
  const incoming = join(resolve(folder), 'incoming')
  const firstMade = await mkdir(objects, { recursive: true, mode: OURS_ALONE })
  await mkdir(incoming, { recursive: true, mode: OURS_ALONE })
  await makePrefixes(objects)
  await syncUpTo(firstMade ? dirname(firstMade) : dirname(objects), objects)
  await sweep(incoming)
  await sweep(objects)

  const folders: Folders = {
    objectPath: (id) => join(objects, checked(id).slice(0, 2), id),
    incomingPath: (id) => join(incoming, checked(id)),
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
    // A full disk still gives what it has.
    if (!isNoRoom(error)) throw error
  })
  return folders
}

/** An id becomes part of a path: whatever else a caller might pass must not. */
function checked(id: string): string {
  if (!isHex(id, 16)) throw new RangeError('an object id is 32 lowercase hex characters')
  return id
}

async function makePrefixes(objects: string): Promise<void> {
  const entries = new Map((await readdir(objects, { withFileTypes: true })).map((entry) => [entry.name, entry]))
  const strange = PREFIXES.find((prefix) => entries.get(prefix)?.isDirectory() === false)
  if (strange) throw new Error(`${join(objects, strange)} is not a folder`)
  const missing = PREFIXES.filter((prefix) => !entries.has(prefix))
  // Recursive, so that another process may make them too.
  await Promise.all(missing.map((prefix) => mkdir(join(objects, prefix), { recursive: true, mode: OURS_ALONE })))
}

async function syncUpTo(top: string, path: string): Promise<void> {
  await syncFolder(path)
  if (path !== top) await syncUpTo(top, dirname(path))
}

/**
 * Files here belong to writes under way, perhaps of another process, or to a process that died. No write lies still
 * for a day. File times are the system's, so the clock is too.
 */
async function sweep(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) continue
    const path = join(folder, entry.name)
    const found = await nullIfMissing(lstat(path))
    if (found && Date.now() - found.mtimeMs > LEFTOVER_AGE_MS) await nullIfMissing(unlink(path))
  }
}
