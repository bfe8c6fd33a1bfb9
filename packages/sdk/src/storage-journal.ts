import type { Journal } from './journal.ts'

const PREFIX = 'svc '

type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** A journal in a browser's storage, which tabs share: where the browser can, they take turns. */
export function storageJournal(storage: KeyValueStorage = localStorage): Journal {
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
  }
}
