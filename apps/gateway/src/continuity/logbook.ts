// The logbook: what this gateway has promised to others, kept apart from the database. Every process appends to a file of
// its own, so a file's entries are in the order of their commits. A database that was set back to an earlier moment lacks
// the ends of those files.

import { randomUUID } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { type FileHandle, link, mkdir, open, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { batch } from '@svc/concurrency/sharing'
import type { NonceTable } from '@svc/guard/tables'
import { type Entry, lineOf, nonceText } from './entries.ts'
import { ALIVE_MS, filesIn, ID, LOG, NONCE } from './logbook-files.ts'

export interface Logbook {
  /** Of the folder. */
  id: string
  /** Durable when it resolves; entries of several callers share a sync. */
  append(entries: readonly Entry[], at: number): Promise<void>
  /** Keeps the last nonce of this process. It survives the process; a power cut may take it. */
  keepNonce(nonce: NonceTable): void
  /** Begins a new file for another history of the database. */
  turnTo(history: string): Promise<void>
  close(): Promise<void>
}

const HEADER = 'svc-logbook 1 '
const MAX_HEAD_BYTES = 1024

const MAX_FILE_BYTES = 16 * 1024 * 1024
/** Older entries are worth nothing: nobody restores a database that is this old, and the chain still has the anchors. */
const KEPT_DAYS = 90
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024
const DAY_MS = 86_400_000

const TOUCH_MS = 5000
const TURN_MS = 25_000
const AGAIN_MS = 1000

export async function openLogbook(folder: string, history: string): Promise<Logbook> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause) => {
    throw new Error(`LOGBOOK_DIR: the folder ${folder} cannot be made: ${cause.message}`, { cause })
  })
  for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
    const owner = await findOtherDatabase(folder, history)
    if (!owner) break
    if (waitedMs >= TURN_MS || !mayTurn(owner, history)) throw inUse(folder, owner)
    await sleep(AGAIN_MS)
  }
  await removeOld(folder)
  const id = await idOf(folder)
  let writer = await beginFile(folder, history)
  let wanted = history
  /** The file may end in the middle of a line, which would take the next entry with it: that one begins a new file. */
  let isCutOff = false
  const noncePath = writer.path.replace(LOG, NONCE)
  const nonceFile = openSync(noncePath, 'w', 0o600)
  let hasNonce = false

  const write = batch(async (texts: string[]) => {
    if (isCutOff || writer.history !== wanted || writer.bytes > MAX_FILE_BYTES) await turn()
    const text = Buffer.from(texts.join(''))
    isCutOff = true
    await writer.file.appendFile(text)
    await writer.file.datasync()
    isCutOff = false
    writer.bytes += text.length
    return texts.map(() => undefined)
  })

  async function turn(): Promise<void> {
    const next = await beginFile(folder, wanted)
    await writer.file.close().catch(() => {})
    writer = next
    await removeOld(folder)
  }

  const touch = setInterval(() => {
    for (const path of [writer.path, noncePath]) void utimes(path, new Date(), new Date()).catch(() => {})
  }, TOUCH_MS)
  touch.unref()

  return {
    id,
    append: (entries, at) => write(entries.map((entry) => lineOf(entry, at)).join('')),
    keepNonce(nonce) {
      writeSync(nonceFile, nonceText(nonce), 0)
      hasNonce = true
    },
    async turnTo(other) {
      wanted = other
      await write('')
    },
    async close() {
      clearInterval(touch)
      closeSync(nonceFile)
      await writer.file.close()
      if (!hasNonce) await rm(noncePath, { force: true })
    },
  }
}

/** Made by the first process that opens the folder. */
async function idOf(folder: string): Promise<string> {
  const path = join(folder, ID)
  const id = randomUUID()
  const own = `${path}-${id}`
  await writeFile(own, id, { mode: 0o600 })
  // Unlike a file that is written in place, a link is there as a whole.
  await link(own, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(own)
  return readFile(path, 'utf8')
}

interface Writer {
  path: string
  file: FileHandle
  history: string
  bytes: number
}

async function beginFile(folder: string, history: string): Promise<Writer> {
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')
  const path = join(folder, `${new Date().toISOString().replaceAll(':', '')}-${process.pid}-${id}${LOG}`)
  const head = `${HEADER}${JSON.stringify({ host: hostname(), pid: process.pid, database: history })}\n`
  const file = await open(path, 'ax', 0o600)
  try {
    await file.appendFile(head)
    await file.datasync()
    // The name must survive a power cut as well.
    const directory = await open(folder, 'r')
    await directory.sync().finally(() => directory.close())
  } catch (error) {
    // Where the disk is full, it is tried again and again.
    await file.close()
    throw error
  }
  return { path, file, history, bytes: head.length }
}

/**
 * Two gateways on two copies of one database would sign the same numbers. Where they share a logbook, the second does not
 * start. Gateways of the same database may share one.
 */
async function findOtherDatabase(folder: string, history: string): Promise<Owner | null> {
  for (const { path, mtimeMs } of await filesIn(folder)) {
    if (Date.now() - mtimeMs > ALIVE_MS) continue
    const owner = ownerOf(await readFile(path, 'utf8'))
    if (owner && owner.database !== history && isAlive(owner)) return owner
  }
  return null
}

/** After a failover, processes that are idle notice it some seconds later, and turn to the new history. */
function mayTurn(owner: Owner, history: string): boolean {
  return owner.database.startsWith('postgres ') && history.startsWith('postgres ')
}

function inUse(folder: string, { pid, host }: Owner): Error {
  return new Error(
    `the logbook ${folder} is in use by process ${pid} on ${host}, which works on another database or another copy of ` +
      'it: stop that gateway, or set LOGBOOK_DIR to a folder of its own if both are meant to run',
  )
}

interface Owner {
  host: string
  pid: number
  database: string
}

function ownerOf(text: string): Owner | null {
  const head = text.slice(0, text.indexOf('\n'))
  return head.startsWith(HEADER) ? (JSON.parse(head.slice(HEADER.length)) as Owner) : null
}

/** A process of another machine cannot be asked for: its file was touched a moment ago. */
function isAlive({ host, pid }: Owner): boolean {
  if (host !== hostname()) return true
  // In a container, a process has the number of the one before it.
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function removeOld(folder: string): Promise<void> {
  let total = 0
  for (const { path, mtimeMs, size } of await filesIn(folder)) {
    total += size
    const age = Date.now() - mtimeMs
    if (age < DAY_MS) continue
    if ((await isEmpty(path, size)) || total > MAX_TOTAL_BYTES || age > KEPT_DAYS * DAY_MS)
      await rm(path, { force: true })
  }
  for (const { path, mtimeMs } of await filesIn(folder, NONCE)) {
    if (Date.now() - mtimeMs > DAY_MS) await rm(path, { force: true })
  }
}

/** Entries of a later release cannot be read here, and are kept. */
async function isEmpty(path: string, size: number): Promise<boolean> {
  return size < MAX_HEAD_BYTES && (await readFile(path, 'utf8')).trimEnd().split('\n').length === 1
}
