import { type FileHandle, link, open, rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { type Gathering, gather } from '../batches.ts'
import { codeOf, onDisk, syncFolder } from './errors.ts'
import type { Folders } from './folders.ts'
import { pour } from './pour.ts'

/** Under its own name an object is whole and durable, or it is not there. */
export async function writeObject(
  folders: Folders,
  id: string,
  source: Readable,
  declaredSize: number | null,
): Promise<number> {
  const incoming = folders.incomingPath(id)
  const object = folders.objectPath(id)
  const gathering = gather(source)
  try {
    const file = await onDisk(refuseExisting(open(incoming, 'wx', 0o600)))
    try {
      const size = await fill(file, gathering, declaredSize)
      await onDisk(publish(incoming, object))
      return size
    } catch (error) {
      await discard(incoming)
      throw error
    }
  } finally {
    gathering.release()
  }
}

async function fill(file: FileHandle, gathering: Gathering, declaredSize: number | null): Promise<number> {
  try {
    return await pour(gathering, file, declaredSize)
  } finally {
    await onDisk(file.close())
  }
}

/** A link and not a rename, since a rename would replace an object that is there. */
async function publish(incoming: string, object: string): Promise<void> {
  await refuseExisting(link(incoming, object))
  try {
    await syncFolder(dirname(object))
    await unlink(incoming)
  } catch (error) {
    await discard(object)
    throw error
  }
}

/** Ids are random, so this is a mistake of the caller and no trouble of the disk. */
async function refuseExisting<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    throw new Error('there is an object with this id, or one on its way', { cause: error })
  }
}

/** What went wrong before matters more than a failure of this. */
async function discard(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {})
}
