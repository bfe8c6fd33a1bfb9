// Brings what the database commits into the journal. A commit records the names of its documents in a table, in its own
// transaction, and writes them to the journal before it answers; a name is forgotten once its document is written. So what
// a crash, a full disk or a lost answer has kept from the journal is known, to every process (T-37).

import { lru } from '@svc/concurrency/caches'
import type { Recorder } from '@svc/database/commit'
import { type Journal, openJournal, type Position } from '@svc/database/journal/journal'
import type { Database } from '@svc/database/open'
import type { NonceTable } from '@svc/service/guard/tables'
import type { Log } from '@svc/service/program/log'
import type { ServiceError } from '@svc/service/service-error'
import type { Schema } from '../db/schema.ts'
import { isKeyChange } from './access-changes.ts'
import { type Entry, readDocument } from './documents.ts'
import { commitUnchecked, logbookUnavailable } from './errors.ts'
import { type LastNonce, openLastNonce } from './last-nonce.ts'
import type { JournalPlace } from './missing.ts'
import type { Noted } from './noted.ts'
import { forgetPending, pendingAccess, pendingAmong, pendingNotes, recordPending, setRead } from './store.ts'

export interface Journaling {
  /** Returns the id of the journal; null where there is none. Commands need not call it. */
  open(history: string): Promise<string | null>
  /** In a transaction, before it reads: what it commits may be of a server that is gone by then. */
  begin(): Recorder<Schema, Noted>
  /** Resolves when these are in a journal, whichever process committed them. Call it before anybody learns of them. */
  requireWritten(noted: readonly Noted[]): Promise<void>
  /** The same for changes of access: all, or those of keys that sign. */
  requireAccessWritten(of: 'all' | 'keys'): Promise<void>
  /** Writes all that is committed and not yet written. */
  catchUp(): Promise<void>
  /** The same for what has waited for a while, and writes down how far the journal is in the database. */
  tick(): Promise<void>
  keepNonce(nonce: NonceTable): void
  switchHistory(history: string): void
  isFailing(): boolean
  close(): Promise<void>
}

interface Parts {
  /** Null where none is kept. */
  place: JournalPlace | null
  database: Database<Schema, Noted>
  log: Log
  /** Unix seconds. */
  now: () => number
  /** Called when the journal has what another server than the present one had. */
  compareAgain(): void
}

/** Documents that are in memory at once. */
const MAX_CHARACTERS = 4_000_000
/** Names of documents that are in a journal, about 100 bytes each. */
const MAX_KEPT = 20_000

export function createJournaling({ place, database, log, now, compareAgain }: Parts): Journaling {
  const { db, commit } = database
  let journal: Journal | null = null
  let lastNonce: LastNonce | null = null
  let isClosed = false
  let isFailing = false
  /** The last nonce, where it was not kept. */
  let unkept: NonceTable | null = null
  const underWay = new Map<string, Promise<boolean>>()
  /** In the journal, and not yet forgotten by the database. */
  const written = new Map<string, Noted>()
  /** Are in a journal for good: who shows them again asks nobody. */
  let kept = lru<string, true>(MAX_KEPT)
  /** How far files of this process are known to the database, which forgets those that were pruned. */
  const known = new Map<string, number>()
  /** How often another server has answered. */
  let turns = 0
  /** What waited at the last tick. */
  let waited = new Set<string>()

  async function open(history: string): Promise<string | null> {
    if (!place) return null
    journal ??= await openJournal({ ...place, history })
    lastNonce ??= await openLastNonce(place.folder)
    return journal.id
  }

  function failed(error: unknown): ServiceError {
    isFailing = true
    log.error({ err: error }, 'the journal cannot be written: nothing is signed until it can')
    return logbookUnavailable(error)
  }

  /** `asked`: the turn in which their transaction began. A failover may have taken them back since. */
  async function writeCommitted(noted: readonly Noted[], asked: number): Promise<void> {
    if (!place || isClosed) return
    const found = await Promise.all(noted.map((each) => writeOnce(each, asked)))
    if (found.includes(false)) throw takenBack()
  }

  async function writePending(find: () => Promise<Noted[]>): Promise<void> {
    if (isClosed) return
    const asked = turns
    const noted = await find()
    const found = await Promise.all(noted.map((each) => writeOnce(each, asked)))
    // Documents that are gone from the database need not be written.
    for (const [i, each] of noted.entries()) if (!found[i]) written.set(nameOf(each), each)
  }

  /** False where the database has no such document. */
  function writeOnce(noted: Noted, asked: number): Promise<boolean> {
    const name = nameOf(noted)
    if (written.has(name)) return Promise.resolve(true)
    const begun = underWay.get(name)
    if (begun !== undefined) return begun
    const writing = append(noted, asked)
      .then((isFound) => {
        if (isFound) written.set(name, noted)
        return isFound
      })
      .finally(() => underWay.delete(name))
    underWay.set(name, writing)
    return writing
  }

  async function append(noted: Noted, asked: number): Promise<boolean> {
    let isFound = false
    const entries: string[] = []
    let characters = 0
    for await (const document of readDocument(db, noted)) {
      isFound = true
      const entry = JSON.stringify({ at: now(), document } satisfies Entry)
      entries.push(entry)
      characters += entry.length
      if (characters < MAX_CHARACTERS) continue
      await appendEntries(entries.splice(0))
      characters = 0
    }
    if (entries.length > 0) await appendEntries(entries)
    // It may be of a server that is gone, and the next one may have been compared before it was in the journal.
    if (asked !== turns) throw takenBack()
    return isFound
  }

  function takenBack(): ServiceError {
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

  async function findPending(): Promise<Noted[]> {
    return (await pendingNotes(db)).filter((noted) => !written.has(nameOf(noted)))
  }

  async function catchUp(): Promise<void> {
    if (!place) return
    await writePending(findPending)
    if (unkept) lastNonce?.keep(unkept)
    unkept = null
    isFailing = false
  }

  /** Of this process's file, all is in the database: it was read from there. */
  async function settle(): Promise<void> {
    if (!journal) return
    const loss = await journal.findLoss()
    if (loss) await writeAgain(loss)
    const ends = journal.positions().filter(({ file, end }) => known.get(file) !== end)
    const settled = [...written.values()]
    if (settled.length === 0) return
    await commit(async (tx) => {
      await forgetPending(tx, settled)
      await setRead(tx, ends)
    })
    for (const noted of settled) written.delete(nameOf(noted))
    for (const { file, end } of ends) known.set(file, end)
  }

  /** What was written since the file was last seen. The database has what was before, as have backups from now on. */
  async function writeAgain(loss: Position): Promise<void> {
    log.error(
      { file: loss.file },
      'somebody removed or shortened a file of the journal that is in use: back up the database, which has what was in it',
    )
    await commit((tx) => setRead(tx, [loss]))
    written.clear()
    await writePending(findPending)
  }

  return {
    open,
    begin() {
      const asked = turns
      return async (tx, noted) => {
        if (place) await recordPending(tx, noted)
        return () => writeCommitted(noted, asked)
      }
    },
    async requireWritten(noted) {
      if (!place) return
      const unknown = noted.filter((one) => !kept.get(nameOf(one)))
      if (unknown.length === 0) return
      const asked = turns
      await writePending(() => pendingAmong(db, unknown))
      if (asked === turns) for (const one of unknown) kept.set(nameOf(one), true)
    },
    async requireAccessWritten(of) {
      if (!place) return
      await writePending(async () => {
        const pending = await pendingAccess(db)
        const shown = of === 'all' ? pending : pending.filter(({ revoked }) => isKeyChange(revoked))
        return shown.map(({ key }) => ({ kind: 'access', key }))
      })
    },
    catchUp,
    async tick() {
      if (!place) return
      if (isFailing) return catchUp()
      await settle()
      const pending = await findPending()
      await writePending(async () => pending.filter((noted) => waited.has(nameOf(noted))))
      waited = new Set(pending.map(nameOf))
    },
    keepNonce(nonce) {
      unkept = nonce
      try {
        lastNonce?.keep(nonce)
        unkept = null
      } catch (error) {
        failed(error)
      }
    },
    switchHistory(history) {
      turns++
      kept = lru(MAX_KEPT)
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

function nameOf({ kind, key }: Noted): string {
  return `${kind} ${key}`
}
