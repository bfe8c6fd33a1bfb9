// Brings what the database commits into the journal. A commit records the names of its documents in a table, in its own
// transaction, and writes them to the journal before it answers; a name is forgotten once its document is written. So what
// a crash, a full disk or a lost answer has kept from the journal is known, to every process (T-160).

import { lru } from '@svc/concurrency/caches'
import { type Journal, openJournal } from '@svc/database/journal/journal'
import type { Database } from '@svc/database/open'
import type { NonceTable } from '@svc/guard/tables'
import type { Log } from '@svc/http-service/log'
import type { ServiceError } from '@svc/http-service/service-error'
import type { Schema, Tx } from '../db/schema.ts'
import { isKeyChange } from './access-changes.ts'
import { type Entry, readDocument } from './documents.ts'
import { logbookUnavailable } from './errors.ts'
import { type LastNonce, openLastNonce } from './last-nonce.ts'
import type { JournalPlace } from './missing.ts'
import type { Noted } from './noted.ts'
import { forgetPending, pendingAccess, pendingAmong, pendingNotes, recordPending, setRead } from './store.ts'

export interface Journaling {
  /** Returns the id of the journal; null where there is none. Commands need not call it. */
  open(history: string): Promise<string | null>
  /** In the transaction that commits what is noted. */
  record(tx: Tx, noted: readonly Noted[]): Promise<void>
  /** After it. Durable when it resolves. */
  write(noted: readonly Noted[]): Promise<void>
  /** For somebody who is about to learn of these, whoever committed them: they are in a journal when it resolves. */
  requireWritten(noted: readonly Noted[]): Promise<void>
  /** The same for changes of access: all, or those of keys that sign. */
  requireAccessWritten(of: 'all' | 'keys'): Promise<void>
  /** Writes all that is committed and not yet written. */
  catchUp(): Promise<void>
  /** The same for what has waited for a while, and writes down how far the journal is in the database. */
  tick(): Promise<void>
  keepNonce(nonce: NonceTable): void
  turnTo(history: string): void
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
  const underWay = new Map<string, Promise<void>>()
  /** In the journal, and not yet forgotten by the database. */
  const written = new Map<string, Noted>()
  /** Are in a journal for good: who shows them again asks nobody. */
  let kept = lru<string, true>(MAX_KEPT)
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

  async function write(noted: readonly Noted[]): Promise<void> {
    if (!place || isClosed) return
    await Promise.all(noted.map(writeOnce))
  }

  function writeOnce(noted: Noted): Promise<void> {
    const name = nameOf(noted)
    if (written.has(name)) return Promise.resolve()
    const begun = underWay.get(name)
    if (begun !== undefined) return begun
    const writing = append(noted)
      .then(() => void written.set(name, noted))
      .finally(() => underWay.delete(name))
    underWay.set(name, writing)
    return writing
  }

  async function append(noted: Noted): Promise<void> {
    const asked = turns
    const entries: string[] = []
    let characters = 0
    for await (const document of readDocument(db, noted)) {
      const entry = JSON.stringify({ at: now(), document } satisfies Entry)
      entries.push(entry)
      characters += entry.length
      if (characters < MAX_CHARACTERS) continue
      await appendEntries(entries.splice(0))
      characters = 0
    }
    if (entries.length > 0) await appendEntries(entries)
    // It was read from a server that is gone, and the next one may have been compared before it was written.
    if (asked !== turns) compareAgain()
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
    await write(await findPending())
    if (unkept) lastNonce?.keep(unkept)
    unkept = null
    isFailing = false
  }

  /** Of this process's file, all is in the database: it was read from there. */
  async function settle(): Promise<void> {
    const ends = journal?.places()
    const settled = [...written.values()]
    if (!ends || settled.length === 0) return
    await commit(async (tx) => {
      await forgetPending(tx, settled)
      await setRead(tx, ends)
    })
    for (const noted of settled) written.delete(nameOf(noted))
  }

  return {
    open,
    async record(tx, noted) {
      if (place && noted.length > 0) await recordPending(tx, noted)
    },
    write,
    async requireWritten(noted) {
      if (!place) return
      const unknown = noted.filter((one) => !kept.get(nameOf(one)))
      if (unknown.length === 0) return
      const asked = turns
      await write(await pendingAmong(db, unknown))
      if (asked === turns) for (const one of unknown) kept.set(nameOf(one), true)
    },
    async requireAccessWritten(of) {
      if (!place) return
      const pending = await pendingAccess(db)
      const shown = of === 'all' ? pending : pending.filter(({ revoked }) => isKeyChange(revoked))
      await write(shown.map(({ key }) => ({ kind: 'access', key })))
    },
    catchUp,
    async tick() {
      if (!place) return
      if (isFailing) return catchUp()
      await settle()
      const pending = await findPending()
      await write(pending.filter((noted) => waited.has(nameOf(noted))))
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
    turnTo(history) {
      turns++
      kept = lru(MAX_KEPT)
      void journal?.turnTo(history).catch(() => {})
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
