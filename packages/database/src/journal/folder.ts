// The files of a journal folder. Each process appends lines, after a head, to a file of its own.

import { randomBytes, randomUUID } from 'node:crypto'
import {
  appendFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

export interface JournalFile {
  name: string
  /** In bytes. */
  size: number
  /** Unix milliseconds. A running process touches its files every few seconds. */
  touchedMs: number
}

export const JOURNAL = '.journal'
/** The file that contains the folder's id. */
const ID = 'id'
const TOUCH_MS = 5000
/** A file that was not touched for this long belongs to no running process. */
export const ALIVE_MS = 20_000

export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** The oldest first: names begin with the time. */
export async function filesIn(folder: string, ending = JOURNAL): Promise<JournalFile[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files: JournalFile[] = []
  for (const name of names.filter((each) => each.endsWith(ending)).sort()) {
    // Another process may be removing it.
    const found = await stat(join(folder, name)).catch(() => null)
    if (found) files.push({ name, size: found.size, touchedMs: found.mtimeMs })
  }
  return files
}

/** The file that lists pruned files. A missing file that is not in it was lost. */
const PRUNED = 'pruned'

/** Durable when it resolves. */
export async function recordPruned(folder: string, names: readonly string[]): Promise<void> {
  await appendFile(join(folder, PRUNED), names.map((name) => `${name}\n`).join(''), { mode: 0o600, flush: true })
}

export async function readPruned(folder: string): Promise<Set<string>> {
  return new Set((await readFile(join(folder, PRUNED), 'utf8').catch(() => '')).split('\n'))
}

export async function removeFile(folder: string, name: string): Promise<void> {
  await rm(join(folder, name), { force: true })
}

/** The first process that opens the folder creates the id. */
export async function makeFolderId(folder: string): Promise<string> {
  const path = join(folder, ID)
  const id = randomUUID()
  const own = `${path}-${id}`
  await writeFile(own, id, { mode: 0o600 })
  // A link appears complete, unlike a file that is written in place.
  await link(own, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(own)
  return readFile(path, 'utf8')
}

/** Null when nothing was written yet. */
export async function readFolderId(folder: string): Promise<string | null> {
  return readFile(join(folder, ID), 'utf8').catch(() => null)
}

export interface Owner {
  host: string
  pid: number
  /** The history of the database that the process writes to. */
  database: string
}

export interface Head extends Owner {
  /** The id of the key that seals the file. */
  key: string
}

const MAGIC = 'svc-journal 1 '

export interface FirstLine extends Line {
  /** Null when the line is damaged. */
  head: Head | null
}

/** Null when the file has no complete line: a crash came before the first entry. */
export async function readHead(folder: string, name: string): Promise<FirstLine | null> {
  for await (const line of readLines(join(folder, name), 0)) return { ...line, head: parseHead(line.text) }
  return null
}

function parseHead(text: string): Head | null {
  try {
    return text.startsWith(MAGIC) ? (JSON.parse(text.slice(MAGIC.length)) as Head) : null
  } catch {
    return null
  }
}

export interface FileWriter {
  name: string
  /** The first line, without its line break. */
  head: string
  size(): number
  hasEntries(): boolean
  /** Durable when it resolves. */
  append(text: string): Promise<void>
  close(): Promise<void>
}

export async function beginFile(
  folder: string,
  { id, database, key }: Pick<Head, 'database' | 'key'> & { id: string },
): Promise<FileWriter> {
  const time = new Date().toISOString().replaceAll(':', '')
  const name = `${time}-${process.pid}-${randomBytes(4).toString('hex')}${endingOf(id)}`
  const path = join(folder, name)
  const head = `${MAGIC}${JSON.stringify({ host: hostname(), pid: process.pid, database, key } satisfies Head)}`
  const file = await open(path, 'ax', 0o600)
  let size = 0
  async function append(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    await file.appendFile(bytes)
    await file.datasync()
    size += bytes.length
  }
  try {
    await append(`${head}\n`)
    await syncFolder(folder)
  } catch (error) {
    // When the disk is full, this is retried with every new file.
    await file.close()
    await removeFile(folder, name).catch(() => {})
    throw error
  }
  const touch = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), TOUCH_MS)
  touch.unref()
  return {
    name,
    head,
    size: () => size,
    hasEntries: () => size > Buffer.byteLength(head) + 1,
    append,
    async close() {
      clearInterval(touch)
      await file.close()
    },
  }
}

/** File names contain the folder's id, because a database may know files of several machines. */
export function endingOf(id: string): string {
  return `-${id.slice(0, 8)}${JOURNAL}`
}

/** 0 when there is no such file. Opening it returns the current size even if another machine writes to it. */
export async function sizeOf(folder: string, name: string): Promise<number> {
  try {
    const file = await open(join(folder, name), 'r')
    return (await file.stat().finally(() => file.close())).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

/** The name of a new file must survive a power cut as well. */
async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r')
  await directory.sync().finally(() => directory.close())
}

export interface Line {
  text: string
  /** Where the next line begins. */
  end: number
}

const BLOCK_BYTES = 256 * 1024

/**
 * Complete lines from a position on. An incomplete line, which a crash leaves, is skipped. A missing file has no lines:
 * a process that ends removes a file without entries, perhaps after it was listed. Files with entries are found missing
 * by their known length.
 */
export async function* readLines(path: string, from: number): AsyncGenerator<Line> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!file) return
  try {
    let end = from
    let rest: Buffer[] = []
    for await (const block of blocksOf(file, from)) {
      let start = 0
      for (let at = block.indexOf('\n'); at !== -1; at = block.indexOf('\n', start)) {
        const line = Buffer.concat([...rest, block.subarray(start, at)])
        rest = []
        end += line.length + 1
        start = at + 1
        yield { text: line.toString(), end }
      }
      rest.push(block.subarray(start))
    }
  } finally {
    await file.close()
  }
}

async function* blocksOf(file: FileHandle, from: number): AsyncGenerator<Buffer> {
  for (let at = from; ; ) {
    const block = Buffer.alloc(BLOCK_BYTES)
    const { bytesRead } = await file.read(block, 0, block.length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield block.subarray(0, bytesRead)
  }
}

/** Up to `characters` of text before a position; all of it must be in the last line before that position. */
export async function readBefore(path: string, end: number, characters: number): Promise<string> {
  const file = await open(path, 'r')
  try {
    const text = Buffer.alloc(characters)
    const { bytesRead } = await file.read(text, 0, characters, Math.max(0, end - characters))
    return text.subarray(0, bytesRead).toString()
  } finally {
    await file.close()
  }
}

/**
 * Two gateways on two copies of one database would sign the same sequence numbers. If they share a journal, the second
 * does not start. Gateways of one database may share a journal.
 */
export async function findOtherDatabase(folder: string, history: string): Promise<Owner | null> {
  for (const { name, touchedMs } of await filesIn(folder)) {
    if (Date.now() - touchedMs > ALIVE_MS) continue
    const owner = (await readHead(folder, name))?.head
    if (owner && owner.database !== history && isAlive(owner)) return owner
  }
  return null
}

/** A process on another machine cannot be queried: it counts as alive while its file is touched. */
function isAlive({ host, pid }: Owner): boolean {
  if (host !== hostname()) return true
  // After a restart in a container, a process gets the number of its predecessor.
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
