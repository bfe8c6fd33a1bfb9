// Public keys that this browser remembers. They are not secret, but show which signers the visitor trusts: they never
// leave the browser.

import { signal } from '@preact/signals'

export interface RememberedKeys {
  label: string
  /** Hex digits, or the text of a key list, as the visitor gave it. */
  text: string
}

const KEY = 'svc-trusted-keys'

export const remembered = signal<readonly RememberedKeys[]>(stored())

/** Returns false if storage is full or not available. */
export function remember(keys: RememberedKeys): boolean {
  const others = stored().filter(({ text }) => text !== keys.text)
  return store([...others, keys])
}

export function forget(keys: RememberedKeys): void {
  store(stored().filter(({ text }) => text !== keys.text))
}

function store(all: readonly RememberedKeys[]): boolean {
  remembered.value = all
  try {
    if (all.length === 0) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, JSON.stringify(all))
    return true
  } catch {
    return false
  }
}

function stored(): RememberedKeys[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(all) ? all.filter(isRemembered) : []
  } catch {
    return []
  }
}

function isRemembered(value: unknown): value is RememberedKeys {
  const { label, text } = (value ?? {}) as Partial<RememberedKeys>
  return typeof label === 'string' && typeof text === 'string'
}

// Another tab may have added or removed keys.
addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) remembered.value = stored()
})
