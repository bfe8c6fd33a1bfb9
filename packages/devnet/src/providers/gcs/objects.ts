// Objects as files in a folder, so that a restarted store still has them.

import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startChecksum } from '@svc/s3/checksums'

export interface GcsObject {
  name: string
  generation: string
  size: number
  /** Of its bytes, in base64. */
  crc32c: string
  contentType: string
  metadata: Record<string, string>
  /** As declared by the client. */
  contentEncoding?: string
}

export type NewObject = Omit<GcsObject, 'generation' | 'size'>

export interface Objects {
  find(name: string): GcsObject | null
  /** Sorted by name. */
  list(): GcsObject[]
  /** A path for incoming bytes. */
  newFile(): string
  /** Null when the object must be new and the name is taken. */
  keep(path: string, size: number, about: NewObject, mustBeNew: boolean): Promise<GcsObject | null>
  remove(name: string): Promise<void>
  read(found: GcsObject): Promise<FileHandle>
}

export async function openObjects(folder: string): Promise<Objects> {
  const [kept, incoming] = [join(folder, 'objects'), join(folder, 'incoming')]
  await rm(incoming, { recursive: true, force: true })
  for (const path of [kept, incoming]) await mkdir(path, { recursive: true })
  const objects = new Map<string, GcsObject>()
  for (const file of (await readdir(kept)).filter((name) => name.endsWith('.json'))) {
    const object: GcsObject = JSON.parse(await readFile(join(kept, file), 'utf8'))
    objects.set(object.name, object)
  }
  let lastGeneration = Date.now() * 1000
  let files = 0
  const pathOf = ({ generation }: GcsObject) => join(kept, generation)

  return {
    find: (name) => objects.get(name) ?? null,
    list: () => [...objects.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    newFile: () => join(incoming, `${files++}`),
    async keep(path, size, about, mustBeNew) {
      const before = objects.get(about.name)
      if (before && mustBeNew) return null
      const object = { ...about, size, generation: `${++lastGeneration}` }
      objects.set(object.name, object)
      await rename(path, pathOf(object))
      await writeFile(`${pathOf(object)}.json`, JSON.stringify(object))
      if (before) await removeFiles(pathOf(before))
      return object
    },
    async remove(name) {
      const object = objects.get(name)
      objects.delete(name)
      if (object) await removeFiles(pathOf(object))
    },
    read: (found) => open(pathOf(found)),
  }
}

export async function crc32cOf(path: string): Promise<string> {
  const checksum = startChecksum('crc32c')
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) checksum.update(chunk)
  return checksum.digest()
}

async function removeFiles(path: string): Promise<void> {
  await rm(`${path}.json`, { force: true })
  await rm(path, { force: true })
}
