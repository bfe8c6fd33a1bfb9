// Files on disk, for Node.

import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Download } from './files/download.ts'
import { chunksOf, type Source } from './files/source.ts'

/** A file on disk, to be put into a locker. */
export async function fileSource(path: string): Promise<Source> {
  const { size } = await stat(path)
  return { size, isRepeatable: true, open: () => createReadStream(path, { highWaterMark: 1024 * 1024 }) }
}

export interface SaveOptions {
  /** Whether a file of that name may be replaced; it may unless told. */
  replace?: boolean
}

/** Writes a download to disk. The file has its name only once all its bytes are there, on disk, and the right ones. */
export async function saveAs(download: Download, path: string, { replace = true }: SaveOptions = {}): Promise<void> {
  const draft = join(dirname(path), `.${randomUUID()}.part`)
  try {
    const file = await open(draft, 'wx')
    try {
      for await (const chunk of chunksOf(download.stream)) await file.writeFile(chunk)
      await file.sync()
    } finally {
      await file.close()
    }
    await (replace ? rename : nameAnew)(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Only where nothing has that name, or one that the file system takes for the same: `A` and `a`, `é` in two forms. */
async function nameAnew(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
    await rm(draft)
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    if (isTaken || (await stat(path).catch(() => null))) throw new Error(`${path} is there already`, { cause: error })
    // Not every file system has links.
    await rename(draft, path)
  }
}
