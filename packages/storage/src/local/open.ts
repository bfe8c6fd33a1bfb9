// Objects as files of one folder: `objects/<first two of the id>/<id>` when complete, `incoming/<id>` before, and
// `incoming/<id>.parts` while they are written in parts.

import { rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type StorageProvider, succeeds } from '../provider.ts'
import { nullIfMissing, onDisk } from './errors.ts'
import { openFolders, syncFolder } from './folders.ts'
import { localParts } from './parts.ts'
import { createAbsenceFinder, readObject, statObject } from './read.ts'
import { writeObject } from './write.ts'

/** The file system of the folder must have hard links. Several processes may have the same folder open. */
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
    parts: localParts(folders),
    read: async ({ id }, range) => readObject(folders.objectPath(id), range),
    stat: async ({ id }) => statObject(folders.objectPath(id)),
    absent: (keys) => findAbsent(keys.map(({ id }) => id)),
    async remove({ id }) {
      await onDisk(nullIfMissing(unlink(folders.incomingPath(id))))
      for (const path of [folders.partsPath(id), folders.sealedPath(id)]) {
        await onDisk(rm(path, { recursive: true, force: true }))
      }
      await onDisk(removeDurably(folders.objectPath(id)))
      return 'removed'
    },
    check: () => succeeds(folders.probe()),
  }
}

async function removeDurably(path: string): Promise<void> {
  await nullIfMissing(unlink(path))
  await syncFolder(dirname(path))
}
