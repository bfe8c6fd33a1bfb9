// Objects as files of one folder: `objects/<first two of the id>/<id>` once whole, `incoming/<id>` before.

import { unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createAbsenceFinder } from './absent-objects.ts'
import { nullIfMissing, onDisk, syncFolder } from './errors.ts'
import { openFolders } from './folders.ts'
import { readObject, statObject } from './read.ts'
import { writeObject } from './write.ts'
import type { StorageProvider } from '../provider.ts'

/** The folder's file system must know hard links. Several processes may have the same folder open. */
export async function openLocalProvider({ folder }: { folder: string }): Promise<StorageProvider> {
  const folders = await openFolders(folder)
  const findAbsent = createAbsenceFinder(folders.objectPath)
  return {
    maxBytes: Number.POSITIVE_INFINITY,
    uploadTarget: async () => null,
    downloadTarget: async () => null,
    async write(id, bytes, { size }) {
      return { size: await writeObject(folders, id, bytes, size), ref: null }
    },
    read: async ({ id }, range) => readObject(folders.objectPath(id), range),
    stat: async ({ id }) => statObject(folders.objectPath(id)),
    absent: (keys) => findAbsent(keys.map(({ id }) => id)),
    async remove({ id }) {
      await onDisk(nullIfMissing(unlink(folders.incomingPath(id))))
      await onDisk(removeForGood(folders.objectPath(id)))
      return 'removed'
    },
    check: () =>
      folders.probe().then(
        () => true,
        () => false,
      ),
  }
}

async function removeForGood(path: string): Promise<void> {
  await nullIfMissing(unlink(path))
  await syncFolder(dirname(path))
}
