// One loop refreshes the shown values: it pauses while the tab is hidden, slows down while the gateway fails, and keeps
// the previous values.

import { effect, type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { RequestFailed } from '../../gateway.ts'
import { ask, signedIn } from './identity.ts'

export interface Live<T> {
  /** Null until the first answer. */
  value: T | null
  /** When `value` was read, in milliseconds. */
  readAt: number | null
  /** The error of the last attempt; `value` is then older. */
  error: RequestFailed | null
}

interface Entry {
  live: Signal<Live<unknown>>
  /** The current path: a time range moves on. */
  path: () => string
  watchers: number
  everyMs: number
  dueAt: number
  failures: number
  isLoading: boolean
}

const MAX_WAIT_MS = 300_000
/** The number of cached values: returning to a section shows its values immediately. */
const MAX_CACHED = 60

const entries = new Map<string, Entry>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Reads `path` while the component is shown. Values with the same key are read once. */
export function useLive<T>(key: string, path: () => string = () => key, everyMs = 15_000): Live<T> {
  const entry = entryOf(key, path, everyMs)
  useEffect(() => {
    entry.watchers += 1
    schedule()
    return () => {
      entry.watchers -= 1
    }
  }, [entry])
  return entry.live.value as Live<T> // the answer of the endpoint at that path
}

/** Refreshes all shown values, after an action. */
export function refresh(): void {
  for (const entry of entries.values()) entry.dueAt = 0
  schedule()
}

/** The time of the last refresh of a shown value, in milliseconds. */
export const newestReading = signal<number | null>(null)

function entryOf(key: string, path: () => string, everyMs: number): Entry {
  const known = entries.get(key)
  if (known) {
    // The most recently used values stay.
    entries.delete(key)
    entries.set(key, known)
    return known
  }
  const fresh = {
    live: signal<Live<unknown>>({ value: null, readAt: null, error: null }),
    path,
    watchers: 0,
    everyMs,
    dueAt: 0,
    failures: 0,
    isLoading: false,
  }
  entries.set(key, fresh)
  for (const [oldest, entry] of entries) {
    if (entries.size <= MAX_CACHED) break
    if (entry.watchers === 0 && entry !== fresh) entries.delete(oldest)
  }
  return fresh
}

function schedule(): void {
  clearTimeout(timer)
  if (document.hidden || signedIn.peek() === 0) return
  const waiting = [...entries.values()].filter(({ watchers, isLoading }) => watchers > 0 && !isLoading)
  if (waiting.length === 0) return
  const nextAt = Math.min(...waiting.map(({ dueAt }) => dueAt))
  timer = setTimeout(loadDue, Math.max(0, nextAt - Date.now()))
}

function loadDue(): void {
  for (const entry of entries.values()) {
    if (entry.watchers > 0 && !entry.isLoading && entry.dueAt <= Date.now()) void load(entry)
  }
  schedule()
}

async function load(entry: Entry): Promise<void> {
  entry.isLoading = true
  // An action in the meantime resets it to 0.
  entry.dueAt = Number.POSITIVE_INFINITY
  try {
    const value = await ask<unknown>(entry.path())
    entry.failures = 0
    entry.live.value = { value, readAt: Date.now(), error: null }
    newestReading.value = Date.now()
  } catch (error) {
    // The session has ended, and its entries are gone.
    if ((error as Error).name === 'AbortError') return
    if (!(error instanceof RequestFailed)) throw error
    entry.failures += 1
    entry.live.value = { ...entry.live.peek(), error }
  }
  entry.isLoading = false
  if (entry.dueAt !== 0) entry.dueAt = Date.now() + Math.min(MAX_WAIT_MS, entry.everyMs * 2 ** entry.failures)
  schedule()
}

document.addEventListener('visibilitychange', schedule)

/** Clears all values when the identity changes. */
effect(() => {
  signedIn.value
  entries.clear()
  newestReading.value = null
})
