// An object in parts is one file, `bytes`, into which each part is written at its position. A file named after the
// part's index claims the position for one writer, of any process: it is removed only when a write has failed and has
// ended. So no write overwrites an acknowledged part, and a file in which all claims belong to its parts is complete.

import { link, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { batchSource } from '../batches.ts'
import { areAdjacent, slotOf, totalSize } from '../part-slots.ts'
import type { CompletedParts, NewPart, ObjectParts, PartsUpload, WrittenPart } from '../provider.ts'
import { closeFile, openFile } from './descriptors.ts'
import { codeOf, nullIfMissing, onDisk } from './errors.ts'
import { type Folders, syncFolder } from './folders.ts'
import { statObject } from './read.ts'
import { writeStream } from './write.ts'

const BYTES = 'bytes'
/** Smaller parts take longer to sync than to copy. */
const MIN_PART_BYTES = 256 * 1024

export function localParts(folders: Folders): ObjectParts {
  return {
    accepts: (partBytes) => partBytes >= MIN_PART_BYTES,
    async begin(id, { partBytes }) {
      await onDisk(createFolder(folders.partsPath(id)))
      return `${partBytes}`
    },
    write: (upload, part, bytes) => writePart(folders, upload, part, bytes),
    complete: (upload, parts) => onDisk(complete(folders, upload, parts)),
  }
}

async function createFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  closeFile(await openFile(join(path, BYTES), 'a', 0o600))
  await syncFolder(path)
  await syncFolder(dirname(path))
}

async function writePart(
  folders: Folders,
  { id, ref }: PartsUpload,
  part: NewPart,
  source: Readable,
): Promise<string | null> {
  const start = slotOf(part, Number(ref))
  if (start === null) return null
  const claim = join(folders.partsPath(id), `${part.index}`)
  const batches = batchSource(source)
  try {
    if (!(await onDisk(claimSlot(claim)))) return null
    try {
      const file = await onDisk(nullIfMissing(openFile(join(folders.partsPath(id), BYTES), 'r+')))
      if (file === null) return null
      try {
        await writeStream(batches, file, part.size, start)
      } finally {
        closeFile(file)
      }
    } catch (error) {
      await rm(claim, { force: true }).catch(() => {})
      throw error
    }
    return `${start}`
  } finally {
    batches.release()
  }
}

/** False when the position is taken, or the folder accepts no more parts. */
async function claimSlot(path: string): Promise<boolean> {
  try {
    closeFile(await openFile(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (['EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** After the rename no position can be claimed, and every earlier claim is visible. */
async function complete(
  folders: Folders,
  { id, ref }: PartsUpload,
  parts: readonly WrittenPart[],
): Promise<CompletedParts | null> {
  const [open, sealed, object] = [folders.partsPath(id), folders.sealedPath(id), folders.objectPath(id)]
  await seal(open, sealed)
  const names = await nullIfMissing(readdir(sealed))
  const known = new Set([BYTES, ...parts.map(({ index }) => `${index}`)])
  const isClaimedByOthers = names?.some((name) => !known.has(name)) ?? false
  // Another process may complete it at the same time, and be faster.
  if (names) await nullIfMissing(publish(join(sealed, BYTES), object))
  const size = (await statObject(object))?.size ?? null
  const starts = parts.map((part) => Number(part.ref))
  if (size === null || parts.some((part, i) => starts[i]! + part.size > size)) return null
  const isExact = !isClaimedByOthers && areAdjacent(parts, Number(ref)) && size === totalSize(parts)
  // Otherwise the claims stay, because others may still be writing: `remove` deletes them.
  if (isExact) await rm(sealed, { recursive: true, force: true })
  return { size, ref: null, isExact, starts }
}

/** A sealed folder stays: another process may have begun a new one without knowing. */
async function seal(open: string, sealed: string): Promise<void> {
  await nullIfMissing(rename(open, sealed)).catch((error) => {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error
  })
}

/** The bytes are already durable, part by part. An existing object stays. */
async function publish(bytes: string, object: string): Promise<void> {
  await link(bytes, object).catch((error) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  await syncFolder(dirname(object))
}
