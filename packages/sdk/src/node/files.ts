// Files on disk, for Node.

import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Download } from '../files/download.ts'
import { chunksOf, type Source } from '../files/source.ts'

const CHUNK_BYTES = 1024 * 1024

/** A file on disk as a source of an upload. An open handle is read even if its path names another file by now. */
export async function fileSource(file: string | FileHandle): Promise<Source> {
  const { size } = await (typeof file === 'string' ? stat(file) : file.stat())
  const open = () =>
    typeof file === 'string'
      ? createReadStream(file, { highWaterMark: CHUNK_BYTES })
      : file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES })
  return { size, isRepeatable: true, open }
}

export interface SaveOptions {
  /** Whether a file of that name may be replaced; true by default. */
  replace?: boolean
}

/** Writes a download to disk. The file gets its name once all its bytes are on disk and verified. */
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
    await (replace ? rename : renameToNew)(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Fails if the name is taken, or one that the file system treats as equal: `A` and `a`, `é` in two forms. */
async function renameToNew(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
    await rm(draft)
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    if (isTaken || (await stat(path).catch(() => null))) throw new Error(`${path} exists already`, { cause: error })
    // Not every file system has hard links.
    await rename(draft, path)
  }
}
