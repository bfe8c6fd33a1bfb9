// The journal: everything that the service has promised to others, in append-only files outside the database. A database
// that was restored to an earlier moment lacks the ends of those files; replaying them restores it.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { batch } from '@svc/concurrency/sharing'
import {
  beginFile,
  type FileWriter,
  filesIn,
  findOtherDatabase,
  makeFolder,
  makeFolderId,
  type Owner,
  readBefore,
  readHead,
  readLines,
  readPruned,
  removeFile,
  sizeOf,
} from './folder.ts'
import { BOND_CHARACTERS, bondAfter, bondOfHead, type Sealing } from './sealing.ts'

/** How far a file was read or written. */
export interface Position {
  file: string
  /** In bytes. */
  end: number
  /** The file was read or written farther before: its end was removed, or the whole file. */
  isLoss?: true
}

export interface Journal {
  /** The id of the folder. */
  id: string
  /** Durable when it resolves; entries of several callers share a sync. */
  append(entries: readonly string[]): Promise<void>
  /** The ends of this process's files that have entries; the current file is the last. */
  positions(): Position[]
  /** Reports once that the current file was removed or shortened; the next entry then begins another file. */
  findLoss(): Promise<Position | null>
  /** Begins a new file for another history of the database. */
  switchHistory(history: string): Promise<void>
  close(): Promise<void>
}

const MAX_FILE_BYTES = 64 * 1024 * 1024
const SWITCH_MS = 25_000
const RETRY_MS = 1000

interface Options {
  folder: string
  sealing: Sealing
  /** The history of the database. */
  history: string
}

export async function openJournal({ folder, sealing, history }: Options): Promise<Journal> {
  await makeFolder(folder).catch(cannotWrite)
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    const owner = await findOtherDatabase(folder, history)
    if (!owner) break
    if (waitedMs >= SWITCH_MS || !maySwitch(owner, history)) throw inUse(folder, owner)
    await sleep(RETRY_MS)
  }
  const id = await makeFolderId(folder).catch(cannotWrite)
  let wanted = history
  let written = history
  const begin = () => beginFile(folder, { id, database: wanted, key: sealing.keyId })
  let writer = await begin().catch(cannotWrite)
  let bond = bondOfHead(writer.head)
  const ended: Position[] = []
  /** The file may end in an incomplete line, which would damage the next entry: that entry begins a new file. */
  let isTruncated = false
  /** The file was removed or shortened. */
  let isLost = false

  const write = batch(async (calls: (readonly string[])[]) => {
    if (isTruncated || isLost || written !== wanted || writer.size() > MAX_FILE_BYTES) await beginNext()
    let last = bond
    const lines = calls.flat().map((entry) => {
      const line = sealing.seal(entry, last)
      last = bondAfter(line)
      return `${line}\n`
    })
    isTruncated = true
    await writer.append(lines.join(''))
    isTruncated = false
    bond = last
    return calls.map(() => undefined)
  })

  async function beginNext(): Promise<void> {
    const history = wanted
    const next = await begin()
    await end().catch(() => {})
    if (writer.hasEntries() && !isLost) ended.push(positionOf(writer))
    writer = next
    written = history
    bond = bondOfHead(writer.head)
    isTruncated = false
    isLost = false
  }

  async function end(): Promise<void> {
    await writer.close()
    if (writer.hasEntries()) return
    // A full disk may have truncated the file after complete lines, which other processes have read.
    const hasLines = await hasLinesAfter(folder, writer.name, 0).catch(() => true)
    if (!hasLines) await removeFile(folder, writer.name)
  }

  function cannotWrite(cause: Error): never {
    throw new Error(`the folder ${folder} cannot be written: set LOGBOOK_DIR to a writable folder (${cause.message})`, {
      cause,
    })
  }

  return {
    id,
    append: (entries) => write(entries),
    positions: () => (writer.hasEntries() && !isLost ? [...ended, positionOf(writer)] : [...ended]),
    async findLoss() {
      const { file, end } = positionOf(writer)
      const size = isLost ? end : await sizeOf(folder, file)
      if (size >= end || file !== writer.name) return null
      isLost = true
      return { file, end: size, isLoss: true }
    },
    async switchHistory(other) {
      wanted = other
      await write([])
    },
    close: end,
  }
}

function positionOf(writer: FileWriter): Position {
  return { file: writer.name, end: writer.size() }
}

/** After a failover, idle processes notice it some seconds later and switch to the new history. */
function maySwitch(owner: Owner, history: string): boolean {
  return owner.database.startsWith('postgres ') && history.startsWith('postgres ')
}

function inUse(folder: string, { pid, host }: Owner): Error {
  return new Error(
    `the journal ${folder} is in use by process ${pid} on ${host}, which uses another database or another copy of ` +
      'it: stop that gateway, or set LOGBOOK_DIR to a folder of its own if both are meant to run',
  )
}

/** What a file contains from a position on. */
export type Read =
  | { entry: string; position: Position }
  /** A line that cannot be read, and why. */
  | { problem: string; position: Position }

/** `from`: how many bytes of each file are known. Files that are not in it are read from the start. */
export async function* readJournal(
  folder: string,
  sealing: Sealing,
  from: ReadonlyMap<string, number>,
): AsyncGenerator<Read> {
  for (const { name, size } of await filesIn(folder)) {
    const known = from.get(name) ?? 0
    if (known < size) yield* readFileFrom(folder, name, sealing, known)
  }
}

/** Whether a file has complete lines after a position, besides its head. */
export async function hasLinesAfter(folder: string, file: string, known: number): Promise<boolean> {
  const first = await readHead(folder, file)
  // A damaged head is read like an entry.
  const from = Math.max(known, first?.head ? first.end : 0)
  for await (const _ of readLines(join(folder, file), from)) return true
  return false
}

async function* readFileFrom(folder: string, file: string, sealing: Sealing, from: number): AsyncGenerator<Read> {
  const path = join(folder, file)
  const first = await readHead(folder, file)
  if (!first) return
  const { head } = first
  if (!head && from < first.end) yield { problem: DAMAGED, position: { file, end: first.end } }
  const problem = head && head.key !== sealing.keyId ? OTHER_KEY : DAMAGED
  const start = Math.max(from, first.end)
  const bondOfFirst = head ? bondOfHead : bondAfter
  let bond = start > first.end ? await bondBefore(path, start) : bondOfFirst(first.text)
  // An entry that a crash truncated is skipped: it was never durable, so no caller got an answer that depends on it.
  for await (const { text, end } of readLines(path, start)) {
    const position = { file, end }
    const entry = sealing.open(text, bond)
    bond = bondAfter(text)
    yield entry === null ? { problem, position } : { entry, position }
  }
}

export interface Loss {
  problem: string
  /** Where the file ends now. */
  position: Position
}

/** Files that are shorter than their known length, or missing without having been pruned. */
export async function findLosses(folder: string, known: ReadonlyMap<string, number>): Promise<Loss[]> {
  const losses: Loss[] = []
  for (const [file, end] of known) {
    const size = await sizeOf(folder, file)
    const problem = size === 0 ? 'is missing or empty' : 'is shorter than it was'
    if (size < end) losses.push({ problem, position: { file, end: size, isLoss: true } })
  }
  // Read last: a file that is pruned meanwhile was recorded before.
  const pruned = await readPruned(folder)
  return losses.filter(({ position }) => !pruned.has(position.file))
}

const DAMAGED = 'is damaged'
const OTHER_KEY = 'is sealed by another SHORT_URL_KEY'

/** The end of the previous line, without its line break. */
async function bondBefore(path: string, position: number): Promise<string> {
  return (await readBefore(path, position, BOND_CHARACTERS + 1)).slice(0, BOND_CHARACTERS)
}
