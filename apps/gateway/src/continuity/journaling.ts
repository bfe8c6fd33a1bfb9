// Writes what the database commits to the journal. A commit records the names of its documents in a table, in its own
// transaction, and writes the documents to the journal before it returns; then the names are deleted. So every process
// knows which documents a crash, a full disk or a lost reply has kept from the journal (T-37).

import { lru } from '@svc/concurrency/caches'
import type { Recorder } from '@svc/database/commit'
import { type Journal, openJournal, type Position } from '@svc/database/journal/journal'
import type { Database } from '@svc/database/open'
import type { NonceTable } from '@svc/service/guard/tables'
import type { Log } from '@svc/service/program/log'
import type { ServiceError } from '@svc/service/service-error'
import type { Schema } from '../db/schema.ts'
import { isKeyChange } from './access-changes.ts'
import type { DocumentId } from './document-id.ts'
import { type Entry, readDocument } from './documents.ts'
import { commitUnchecked, logbookUnavailable } from './errors.ts'
import { type LastNonce, openLastNonce } from './last-nonce.ts'
import type { JournalLocation } from './missing.ts'
import { forgetPending, pendingAccess, pendingAmong, pendingDocuments, recordPending, setRead } from './store.ts'

export interface Journaling {
  /** Returns the id of the journal, or null without one. Commands need not call it. */
  open(history: string): Promise<string | null>
  /** Call it in a transaction before it reads: a server that is gone by the commit may have answered. */
  begin(): Recorder<Schema, DocumentId>
  /** Resolves when these are in a journal, whichever process committed them. Call it before anyone learns of them. */
  requireWritten(ids: readonly DocumentId[]): Promise<void>
  /** Like `requireWritten`, for changes of access: all of them, or only those of signing keys. */
  requireAccessWritten(of: 'all' | 'keys'): Promise<void>
  /** Writes everything that is committed but not yet written. */
  catchUp(): Promise<void>
  /**
   * Writes documents that have been pending since the last tick, and records in the database how far the journal was
   * written.
   */
  tick(): Promise<void>
  saveNonce(nonce: NonceTable): void
  switchHistory(history: string): void
  isFailing(): boolean
  close(): Promise<void>
}

interface Parts {
  /** Null for no journal. */
  location: JournalLocation | null
  database: Database<Schema, DocumentId>
  log: Log
  /** Unix seconds. */
  now: () => number
  /** Called when the journal has entries that came from another server than the present one. */
  compareAgain(): void
}

/** The most characters of documents in memory at a time. */
const MAX_CHARACTERS = 4_000_000
/** Remembered names of documents that are in a journal, about 100 bytes each. */
const MAX_REMEMBERED = 20_000

export function createJournaling({ location, database, log, now, compareAgain }: Parts): Journaling {
  const { db, commit } = database
  let journal: Journal | null = null
  let lastNonce: LastNonce | null = null
  let isClosed = false
  let isFailing = false
  /** The last nonce, if writing it failed. */
  let unsavedNonce: NonceTable | null = null
  const inProgress = new Map<string, Promise<boolean>>()
  /** In the journal, but not yet deleted from the pending names in the database. */
  const written = new Map<string, DocumentId>()
  /** Known to be in a journal permanently: showing them again needs no query. */
  let inJournal = lru<string, true>(MAX_REMEMBERED)
  /** How far the database knows the files of this process. It forgets pruned files. */
  const known = new Map<string, number>()
  /** How often another server has answered. */
  let epoch = 0
  /** The documents that were pending at the last tick. */
  let pendingAtLastTick = new Set<string>()

  async function open(history: string): Promise<string | null> {
    if (!location) return null
    journal ??= await openJournal({ ...location, history })
    lastNonce ??= await openLastNonce(location.folder)
    return journal.id
  }

  function failed(error: unknown): ServiceError {
    isFailing = true
    log.error({ err: error }, 'the journal cannot be written: nothing is signed until it can')
    return logbookUnavailable(error)
  }

  /** `startEpoch`: the value of `epoch` when their transaction began. A failover may have undone the transaction since. */
  async function writeCommitted(ids: readonly DocumentId[], startEpoch: number): Promise<void> {
    if (!location || isClosed) return
    const found = await Promise.all(ids.map((id) => writeOnce(id, startEpoch)))
    if (found.includes(false)) throw undoneByFailover()
  }

  async function writePending(find: () => Promise<DocumentId[]>): Promise<void> {
    if (isClosed) return
    const startEpoch = epoch
    const ids = await find()
    const found = await Promise.all(ids.map((id) => writeOnce(id, startEpoch)))
    // Documents that are gone from the database need not be written.
    for (const [i, id] of ids.entries()) if (!found[i]) written.set(nameOf(id), id)
  }

  /** False where the database has no such document. */
  function writeOnce(id: DocumentId, startEpoch: number): Promise<boolean> {
    const name = nameOf(id)
    if (written.has(name)) return Promise.resolve(true)
    const running = inProgress.get(name)
    if (running !== undefined) return running
    const writing = append(id, startEpoch)
      .then((isFound) => {
        if (isFound) written.set(name, id)
        return isFound
      })
      .finally(() => inProgress.delete(name))
    inProgress.set(name, writing)
    return writing
  }

  async function append(id: DocumentId, startEpoch: number): Promise<boolean> {
    let isFound = false
    const entries: string[] = []
    let characters = 0
    for await (const document of readDocument(db, id)) {
      isFound = true
      const entry = JSON.stringify({ at: now(), document } satisfies Entry)
      entries.push(entry)
      characters += entry.length
      if (characters < MAX_CHARACTERS) continue
      await appendEntries(entries.splice(0))
      characters = 0
    }
    if (entries.length > 0) await appendEntries(entries)
    // The document may come from a server that is gone; the next server may have been compared before it was in the
    // journal.
    if (startEpoch !== epoch) throw undoneByFailover()
    return isFound
  }

  async function isStored(id: DocumentId): Promise<boolean> {
    for await (const _document of readDocument(db, id)) return true
    return false
  }

  function undoneByFailover(): ServiceError {
    compareAgain()
    return commitUnchecked()
  }

  async function appendEntries(entries: readonly string[]): Promise<void> {
    if (!journal) await open((await database.server()).history)
    try {
      await journal?.append(entries)
    } catch (error) {
      throw failed(error)
    }
  }

  async function findPending(): Promise<DocumentId[]> {
    return (await pendingDocuments(db)).filter((id) => !written.has(nameOf(id)))
  }

  async function catchUp(): Promise<void> {
    if (!location) return
    await writePending(findPending)
    if (unsavedNonce) lastNonce?.save(unsavedNonce)
    unsavedNonce = null
    isFailing = false
  }

  /** Marks what this process wrote as read: the database has it, because it was read from there. */
  async function settle(): Promise<void> {
    if (!journal) return
    const loss = await journal.findLoss()
    if (loss) await rewriteLost(loss)
    const ends = journal.positions().filter(({ file, end }) => known.get(file) !== end)
    const settled = [...written.values()]
    if (settled.length === 0) return
    await commit(async (tx) => {
      await forgetPending(tx, settled)
      await setRead(tx, ends)
    })
    for (const id of settled) written.delete(nameOf(id))
    for (const { file, end } of ends) known.set(file, end)
  }

  /**
   * Writes again what was written since the file was last found complete. The database has the earlier part, and
   * backups from now on have it, too.
   */
  async function rewriteLost(loss: Position): Promise<void> {
    log.error(
      { file: loss.file },
      'a file of the journal was removed or shortened while in use: back up the database, which has its contents',
    )
    await commit((tx) => setRead(tx, [loss]))
    written.clear()
    await writePending(findPending)
  }

  return {
    open,
    begin() {
      const startEpoch = epoch
      return async (tx, ids) => {
        if (location) await recordPending(tx, ids)
        return () => writeCommitted(ids, startEpoch)
      }
    },
    async requireWritten(ids) {
      if (!location) return
      const unknown = ids.filter((id) => !inJournal.get(nameOf(id)))
      if (unknown.length === 0) return
      const startEpoch = epoch
      await writePending(() => pendingAmong(db, unknown))
      // The caller may have read them from a server that is gone.
      if (epoch > 0) for (const id of unknown) if (!(await isStored(id))) throw undoneByFailover()
      if (startEpoch !== epoch) throw undoneByFailover()
      for (const id of unknown) inJournal.set(nameOf(id), true)
    },
    async requireAccessWritten(of) {
      if (!location) return
      await writePending(async () => {
        const pending = await pendingAccess(db)
        const shown = of === 'all' ? pending : pending.filter(({ revoked }) => isKeyChange(revoked))
        return shown.map(({ key }) => ({ kind: 'access', key }))
      })
    },
    catchUp,
    async tick() {
      if (!location) return
      if (isFailing) return catchUp()
      await settle()
      const pending = await findPending()
      await writePending(async () => pending.filter((id) => pendingAtLastTick.has(nameOf(id))))
      pendingAtLastTick = new Set(pending.map(nameOf))
    },
    saveNonce(nonce) {
      unsavedNonce = nonce
      try {
        lastNonce?.save(nonce)
        unsavedNonce = null
      } catch (error) {
        failed(error)
      }
    },
    switchHistory(history) {
      epoch++
      inJournal = lru(MAX_REMEMBERED)
      known.clear()
      void journal?.switchHistory(history).catch(() => {})
    },
    isFailing: () => isFailing,
    async close() {
      await settle().catch(() => {})
      isClosed = true
      lastNonce?.close()
      await journal?.close()
    },
  }
}

function nameOf({ kind, key }: DocumentId): string {
  return `${kind} ${key}`
}
