// Objects as files in a folder, so that a restarted store still has them.

import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { Refusal } from '../http/exchange.ts'

export interface StoredObject {
  key: string
  size: number
  etag: string
  /** Content type and custom metadata, as sent. */
  headers: Record<string, string>
  /** Its parts in order. */
  files: File[]
}

interface File {
  path: string
  size: number
}

export interface Objects {
  find(key: string): StoredObject | null
  /** In no particular order. */
  list(): StoredObject[]
  /** A path for incoming bytes. */
  newPath(): string
  /** Makes these files the object. */
  keep(object: Omit<StoredObject, 'size'>, mustBeNew: boolean): Promise<void>
  remove(key: string): Promise<void>
  /** `start` and `end` are inclusive. */
  read(object: StoredObject, start: number, end: number): Readable
}

const CHUNKS = { highWaterMark: 256 * 1024 }

export async function openObjects(folder: string): Promise<Objects> {
  const [kept, incoming] = [join(folder, 'objects'), join(folder, 'incoming')]
  await rm(incoming, { recursive: true, force: true })
  for (const path of [kept, incoming]) await mkdir(path, { recursive: true })
  const objects = new Map<string, StoredObject>()
  for (const name of (await readdir(kept)).filter((name) => name.endsWith('.json'))) {
    const object: StoredObject = JSON.parse(await readFile(join(kept, name), 'utf8'))
    objects.set(object.key, object)
  }
  const notePath = ({ etag }: StoredObject) => join(kept, `${etag}.json`)

  async function removeFiles(object: StoredObject | undefined): Promise<void> {
    if (!object) return
    for (const path of [notePath(object), ...object.files.map((file) => file.path)]) await rm(path, { force: true })
  }

  return {
    find: (key) => objects.get(key) ?? null,
    list: () => [...objects.values()],
    newPath: () => join(incoming, randomUUID()),
    async keep(object, mustBeNew) {
      const before = objects.get(object.key)
      if (before && mustBeNew) throw new Refusal(412, 'PreconditionFailed')
      const files = object.files.map(({ path, size }) => ({ path: join(kept, basename(path)), size }))
      const whole = { ...object, files, size: files.reduce((sum, { size }) => sum + size, 0) }
      objects.set(object.key, whole)
      for (const [i, { path }] of object.files.entries()) await rename(path, files[i]!.path)
      await writeFile(notePath(whole), JSON.stringify(whole))
      await removeFiles(before)
    },
    async remove(key) {
      const before = objects.get(key)
      objects.delete(key)
      await removeFiles(before)
    },
    read: ({ files: [first, ...rest] }, start, end) =>
      first && rest.length === 0
        ? createReadStream(first.path, { start, end, ...CHUNKS })
        : Readable.from(readFiles(first ? [first, ...rest] : [], start, end), { objectMode: false }),
  }
}

async function* readFiles(files: readonly File[], start: number, end: number) {
  let offset = 0
  for (const { path, size } of files) {
    const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, size - 1)]
    if (from <= to) yield* createReadStream(path, { start: from, end: to, ...CHUNKS })
    offset += size
  }
}
