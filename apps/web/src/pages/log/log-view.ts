// The state of the log page: the last reading of the log, and the entry that is shown.

import { type Signal, signal } from '@preact/signals'
import { type Entry, findIndex, readEntries, readWanted } from './entries.ts'
import { compareWithSeen, type Growth, isAlarm, lastSeen, rememberSeen } from './last-checkpoint.ts'
import { isUnreadable, NotOfLog, type ReadLog, readLog } from './log-reader.ts'

type Reading = { state: 'loading' } | { state: 'unreadable' } | { state: 'not_of_log'; why: string } | ReadyLog

export interface ReadyLog {
  state: 'ready'
  log: ReadLog
  growth: Growth
  /** Whether this browser remembers the checkpoint for the next visit. */
  isStored: boolean
}

type SearchResult =
  | { state: 'looking' | 'bad' | 'no_index' | 'not_found' | 'failed' }
  | { state: 'found'; entry: Entry }

export interface LogView {
  reading: Signal<Reading>
  /** Set while a reload runs and the previous reading is still shown. */
  isBusy: Signal<boolean>
  /** The search result; null without a search. */
  searchResult: Signal<SearchResult | null>
  read(): Promise<void>
  lookUp(text: string): Promise<void>
  /** Reads the log again after a failure. */
  again(): Promise<void>
  /** Accepts the current checkpoint for later comparisons. */
  accept(ready: ReadyLog): void
}

export function createLogView(): LogView {
  const reading = signal<Reading>({ state: 'loading' })
  const isBusy = signal(false)
  const searchResult = signal<SearchResult | null>(null)
  let latest = ''

  async function read(): Promise<void> {
    isBusy.value = true
    reading.value = await readAndCompare().catch(failureOf)
    isBusy.value = false
  }

  /** Throws if the gateway gives no answer. */
  async function find(text: string): Promise<SearchResult> {
    const wanted = readWanted(text)
    if (!wanted) return { state: 'bad' }
    const index = 'digest' in wanted ? await findIndex(wanted.digest) : wanted.index
    if (index === null) return { state: 'not_found' }
    // The entry may have been added after the log was read.
    if (index >= sizeNow()) await read()
    const { value } = reading
    if (value.state !== 'ready') return { state: 'failed' }
    if (index >= sizeNow()) return { state: 'no_index' }
    const [entry] = await readEntries(value.log, index + 1, 1)
    if (!entry) return { state: 'failed' }
    const isWanted = !('digest' in wanted) || entry.statement_digest === wanted.digest
    return { state: 'found', entry: { ...entry, isProven: entry.isProven && isWanted } }
  }

  function sizeNow(): number {
    return reading.value.state === 'ready' ? (reading.value.log.head?.size ?? 0) : 0
  }

  async function lookUp(text: string): Promise<void> {
    latest = text
    searchResult.value = text === '' ? null : { state: 'looking' }
    if (text === '') return
    const found = await find(text).catch((error): SearchResult => {
      if (isUnreadable(error)) return { state: 'failed' }
      throw error
    })
    if (latest === text) searchResult.value = found
  }

  return {
    reading,
    isBusy,
    searchResult,
    read,
    lookUp,
    again: () => lookUp(latest),
    accept({ log }) {
      const isStored = log.head !== null && rememberSeen(log.state, log.head)
      reading.value = { state: 'ready', log, growth: { kind: 'first' }, isStored }
    },
  }
}

/** Retries, because a gateway on several machines may show an older checkpoint for a moment. */
const ATTEMPTS = 3
const PAUSE_MS = 2_000

async function readAndCompare(): Promise<ReadyLog> {
  const seen = lastSeen()
  for (let attempt = 1; ; attempt++) {
    const log = await readLog()
    const growth = await compareWithSeen(log, seen)
    if (growth.kind === 'shrunk' && attempt < ATTEMPTS) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      continue
    }
    const isAccepted = log.head !== null && !isAlarm(growth) && growth.kind !== 'unproven'
    return { state: 'ready', log, growth, isStored: isAccepted && rememberSeen(log.state, log.head!) }
  }
}

function failureOf(error: unknown): Reading {
  if (error instanceof NotOfLog) return { state: 'not_of_log', why: error.message }
  if (isUnreadable(error)) return { state: 'unreadable' }
  throw error
}
