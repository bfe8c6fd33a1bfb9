// Public keys that this browser remembers. They are not secret, but show which signers the visitor trusts: they never
// leave the browser.

import { signal } from '@preact/signals'
import type { Pins } from './checking.ts'
import type { CheckWorker } from './worker/start.ts'

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

/** Reads all keys. Unreadable ones are left out, but stay in the list, where they can be removed. */
export async function readKeys(
  worker: CheckWorker,
  all: readonly RememberedKeys[],
): Promise<Pick<Pins, 'keys' | 'listed'>> {
  const read = await Promise.all(all.map(({ text }) => worker.call('readKeys', text)))
  const good = read.filter((keys) => keys.ok)
  return {
    keys: good.flatMap(({ keys }) => keys),
    listed: {
      changes: {
        endorsements: good.flatMap(({ changes }) => changes.endorsements),
        revocations: good.flatMap(({ changes }) => changes.revocations),
      },
      recovery: good.flatMap(({ recovery }) => recovery),
      logs: good.flatMap(({ logs }) => logs),
    },
  }
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
