/** The values most recently used, up to so many. */
export interface Recent<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
}

export function createRecent<Key, Value>(capacity: number): Recent<Key, Value> {
  // A Map keeps the order of insertion, so the first key is the least recently used.
  const values = new Map<Key, Value>()
  return {
    get(key) {
      const value = values.get(key)
      if (value !== undefined) {
        values.delete(key)
        values.set(key, value)
      }
      return value
    },
    set(key, value) {
      values.delete(key)
      values.set(key, value)
      if (values.size > capacity) values.delete(values.keys().next().value as Key)
    },
  }
}
