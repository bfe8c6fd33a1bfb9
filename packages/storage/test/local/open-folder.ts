import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openLocalProvider } from '../../src/local/open.ts'
import type { StorageProvider } from '../../src/provider.ts'

export interface TestFolder {
  folder: string
  provider: StorageProvider
  objectPath(id: string): string
  incomingPath(id: string): string
  /** Sorted ids of all visible objects. */
  objects(): Promise<string[]>
  /** Ids of incomplete objects, being written or left over. */
  incoming(): Promise<string[]>
  /** The folder's files that this process has open. */
  openFiles(): Promise<string[]>
}

/** Ends with the test. */
export async function openTestFolder(): Promise<TestFolder> {
  const folder = await makeFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return {
    folder,
    provider: await openLocalProvider({ folder }),
    objectPath: (id) => join(folder, 'objects', id.slice(0, 2), id),
    incomingPath: (id) => join(folder, 'incoming', id),
    async objects() {
      const entries = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => !entry.isDirectory())
      return files.map(({ name }) => name).sort()
    },
    incoming: () => readdir(join(folder, 'incoming')),
    openFiles: () => openFilesOf(folder),
  }
}

export function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'svc-objects-'))
}

export async function openFilesOf(folder: string): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(links)).filter((path) => path.startsWith(folder))
}
