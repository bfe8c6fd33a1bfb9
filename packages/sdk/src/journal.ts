// State that must survive the end of a client's process: signed payments and unfinished uploads.

export interface Journal {
  get(key: string): Promise<string | null>
  /**
   * Writes if the entry still has the value that the caller last read (null: no entry), and returns whether it did. A
   * write survives a crash. Null removes the entry. Of two concurrent writers, one succeeds and the other reads again.
   */
  put(key: string, value: string | null, expected: string | null): Promise<boolean>
}

/** Stores entries in memory only: for tests, and for clients that neither pay nor resume uploads. */
export function memoryJournal(): Journal {
  const entries = new Map<string, string>()
  return {
    get: async (key) => entries.get(key) ?? null,
    async put(key, value, expected) {
      if ((entries.get(key) ?? null) !== expected) return false
      if (value === null) entries.delete(key)
      else entries.set(key, value)
      return true
    },
  }
}

/** A journal that can list its keys. */
export interface ListedJournal extends Journal {
  keys(): string[]
}

const PREFIX = 'svc '

type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/**
 * A journal in a browser's storage, which tabs share. Web Locks serialize their writes if the browser supports them.
 */
export function storageJournal(storage: KeyValueStorage = localStorage): ListedJournal {
  function compareAndSet(key: string, value: string | null, expected: string | null): boolean {
    if (storage.getItem(PREFIX + key) !== expected) return false
    if (value === null) storage.removeItem(PREFIX + key)
    else storage.setItem(PREFIX + key, value)
    return true
  }

  return {
    get: async (key) => storage.getItem(PREFIX + key),
    async put(key, value, expected) {
      const { locks } = globalThis.navigator ?? {}
      if (!locks) return compareAndSet(key, value, expected)
      return locks.request(PREFIX + key, () => compareAndSet(key, value, expected))
    },
    keys: () =>
      Object.keys(storage)
        .filter((name) => name.startsWith(PREFIX))
        .map((name) => name.slice(PREFIX.length)),
  }
}

/** One entry of a journal, parsed from JSON. */
export interface JournalEntry<T> {
  read(): Promise<T | null>
  /** Writes if the entry still has the value last read or written here, and returns whether it did. */
  write(value: T | null): Promise<boolean>
  /** Changes the current value, even if others write at the same time. */
  update(change: (value: T | null) => T | null): Promise<void>
}

/** Exceeds the number of concurrent writers of any journal. */
const MAX_ROUNDS = 1_000

export function journalEntry<T>(journal: Journal, key: string): JournalEntry<T> {
  let known: string | null = null
  const parsed = (text: string | null): T | null => (text === null ? null : JSON.parse(text))
  const textOf = (value: T | null) => (value === null ? null : JSON.stringify(value))
  return {
    async read() {
      known = await journal.get(key)
      return parsed(known)
    },
    async write(value) {
      const text = textOf(value)
      if (!(await journal.put(key, text, known))) return false
      known = text
      return true
    },
    async update(change) {
      // One of the concurrent writers succeeds in each round, so fewer remain.
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const before = await journal.get(key)
        const text = textOf(change(parsed(before)))
        if (!(await journal.put(key, text, before))) continue
        known = text
        return
      }
      throw new Error('the journal refuses every write')
    },
  }
}
