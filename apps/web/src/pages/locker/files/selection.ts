import { type Signal, signal } from '@preact/signals'
import type { Listing } from './listing.ts'
import type { Entry } from './sorting.ts'

export interface Selection {
  /** The selected entries by name, as they were when they were selected. */
  readonly entries: Signal<ReadonlyMap<string, Entry>>
  toggle(entry: Entry): void
  /** Selects the loaded rows in a range. */
  range(listing: Listing, from: number, to: number): void
  /** Selects from the entry that was toggled last to this row. */
  extend(listing: Listing, row: number): void
  clear(): void
}

export function createSelection(): Selection {
  const entries = signal<ReadonlyMap<string, Entry>>(new Map())
  let anchor = ''
  const range = (listing: Listing, from: number, to: number) => {
    const next = new Map(entries.value)
    for (let row = Math.min(from, to); row <= Math.max(from, to); row++) {
      const entry = listing.entryAt(row)
      if (entry) next.set(entry.name, entry)
    }
    entries.value = next
  }
  return {
    entries,
    toggle(entry) {
      const next = new Map(entries.value)
      if (!next.delete(entry.name)) next.set(entry.name, entry)
      entries.value = next
      anchor = entry.name
    },
    range,
    extend: (listing, row) => range(listing, listing.rowOf(anchor) ?? row, row),
    clear() {
      entries.value = new Map()
    },
  }
}
