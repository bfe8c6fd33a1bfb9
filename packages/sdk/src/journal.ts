// What a client must not forget when its process ends: which payments it has signed, which uploads it has begun.

export interface Journal {
  get(key: string): Promise<string | null>
  /**
   * Writes only where the entry is still what the caller last read (null for none), and says whether it did. Once it
   * has, the entry survives a crash. Null removes it. So of two who act on one entry at once, one goes on and the other
   * looks again.
   */
  put(key: string, value: string | null, expected: string | null): Promise<boolean>
}

/** Forgets everything with its process: for tests, and for clients that neither pay nor resume. */
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
