// Files on disk, for Node.

import { createHash, randomUUID } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { type FileHandle, link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { BytesDiffer } from '../errors.ts'
import type { Download } from '../files/download.ts'
import { chunksOf, type Source } from '../files/source.ts'
import { SMALL_FILE_BYTES } from '../files/upload.ts'

const CHUNK_BYTES = 1024 * 1024

/** A file on disk as a source of an upload. An open handle is read even if its path now names another file. */
export async function fileSource(file: string | FileHandle): Promise<Source> {
  const { size } = await (typeof file === 'string' ? stat(file) : file.stat())
  const open = () =>
    typeof file === 'string'
      ? createReadStream(file, { highWaterMark: CHUNK_BYTES })
      : file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES })
  return { size, isRepeatable: true, open }
}

export interface SaveOptions {
  /** Whether an existing file with that name may be replaced. True by default. */
  replace?: boolean
  /**
   * Whether to save the received part of a large file if the download breaks off, so that the next one continues there.
   */
  resume?: boolean
  /** Called when a download continues from the part that an earlier one has saved. */
  onResume?: (kept: number, size: number) => void
  /** Called with the number of bytes that were already saved or have just arrived. */
  onBytes?: (count: number) => void
}

/** Writes a download to disk. The file gets its name once all its bytes are on disk and verified. */
export async function saveAs(download: Download, path: string, options: SaveOptions = {}): Promise<void> {
  const { replace = true, resume = false } = options
  const { contentHash, size } = download
  const isResumable = resume && contentHash !== null && size !== null && size > SMALL_FILE_BYTES
  const draft = isResumable ? await claimPart(path, contentHash) : join(dirname(path), `.${randomUUID()}.part`)
  try {
    await (isResumable ? resumeInto(draft, download, size, options) : writeInto(draft, download, options))
    await (replace ? rename : renameToNew)(draft, path)
  } catch (error) {
    const isUseless = error instanceof BytesDiffer || error instanceof NameTaken
    if (!isResumable || isUseless) await rm(draft, { force: true })
    throw error
  }
}

/** Reads at least one byte, because possibly only the last one is missing. */
async function resumeInto(draft: string, download: Download, size: number, options: SaveOptions): Promise<void> {
  const kept = Math.min((await stat(draft).catch(() => null))?.size ?? 0, size - 1)
  if (kept === 0) return writeInto(draft, download, options)
  const rest = await download.resume(beginningOf(draft, kept))
  if (rest.start > 0) options.onResume?.(rest.start, size)
  options.onBytes?.(rest.start)
  try {
    await writeInto(draft, rest, options)
  } catch (error) {
    if (!(error instanceof BytesDiffer) || rest.start === 0) throw error
    // Start over, because the saved part may be damaged: a crash can leave bytes that were never written.
    options.onBytes?.(-size)
    await writeInto(draft, await download.resume(beginningOf(draft, 0)), options)
  }
}

function beginningOf(path: string, size: number): Source {
  const open = () => createReadStream(path, { end: size - 1, highWaterMark: CHUNK_BYTES })
  return { size, isRepeatable: true, open }
}

/** The name of a part can be guessed, so a symbolic link in its place must not be followed. Windows lacks the flag. */
const WRITE = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

async function writeInto(path: string, { stream, start }: Download, { onBytes }: SaveOptions): Promise<void> {
  const file = await open(path, WRITE | (start > 0 ? 0 : constants.O_TRUNC))
  try {
    let end = start
    for await (const chunk of chunksOf(stream)) {
      await writeAt(file, chunk, end)
      end += chunk.length
      onBytes?.(chunk.length)
    }
    await file.truncate(end)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writeAt(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done)
    done += bytesWritten
  }
}

const UNFINISHED = /^\.([0-9a-f-]{36}|[0-9a-f]{32}\.\d+)\.part$/

/** Whether `saveAs` may have left a file with this name behind. */
export function isUnfinishedDownload(name: string): boolean {
  return UNFINISHED.test(name)
}

/** The process of a part may have died, and another process may now have its id. */
const ABANDONED_MS = 10 * 60_000

/**
 * The path of this process for the part of a file. Takes over the part of another process unless it is still active,
 * and removes parts of other content with the same name, because no download will continue them.
 */
async function claimPart(path: string, contentHash: string): Promise<string> {
  const folder = dirname(path)
  const ofName = `.${shortHash(basename(path))}`
  const ofContent = `${ofName}${shortHash(contentHash)}.`
  const own = `${ofContent}${process.pid}.part`
  const parts = (await readdir(folder)).filter((name) => name.startsWith(ofName) && isUnfinishedDownload(name))
  let isOurs = parts.includes(own)
  for (const name of parts) {
    const part = join(folder, name)
    if (name === own || !(await isAbandoned(part))) continue
    if (!name.startsWith(ofContent)) await rm(part, { force: true })
    else if (!isOurs)
      isOurs = await rename(part, join(folder, own)).then(
        () => true,
        () => false,
      )
  }
  return join(folder, own)
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

async function isAbandoned(part: string): Promise<boolean> {
  const facts = await stat(part).catch(() => null)
  if (!facts) return false
  if (Date.now() - facts.mtimeMs > ABANDONED_MS) return true
  try {
    process.kill(Number(/\.(\d+)\.part$/.exec(part)?.[1]), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

class NameTaken extends Error {
  override name = 'NameTaken'
}

/** Fails if the name exists, or one that the file system treats as equal: `A` and `a`, `é` in two forms. */
async function renameToNew(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
    await rm(draft)
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    if (isTaken || (await stat(path).catch(() => null))) throw new NameTaken(`${path} already exists`, { cause: error })
    // Not every file system has hard links.
    await rename(draft, path)
  }
}
