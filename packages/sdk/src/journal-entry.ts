import type { Journal } from './journal.ts'

/** One entry of a journal, as a value. */
export interface JournalEntry<T> {
  read(): Promise<T | null>
  /** Only where it is still what was last read or written here; says whether it was. */
  write(value: T | null): Promise<boolean>
}

export function journalEntry<T>(journal: Journal, key: string): JournalEntry<T> {
  let known: string | null = null
  return {
    async read() {
      known = await journal.get(key)
      return known === null ? null : JSON.parse(known)
    },
    async write(value) {
      const text = value === null ? null : JSON.stringify(value)
      if (!(await journal.put(key, text, known))) return false
      known = text
      return true
    },
  }
}
