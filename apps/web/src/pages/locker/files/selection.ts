import { type Signal, signal } from '@preact/signals'
import type { Listing } from './listing.ts'

export interface Selection {
  readonly names: Signal<ReadonlySet<string>>
  /** The row that a range begins at. */
  readonly anchor: Signal<number>
  toggle(name: string, row: number): void
  /** Selects the loaded rows from one to another. */
  range(listing: Listing, from: number, to: number): void
  clear(): void
}

export function createSelection(): Selection {
  const names = signal<ReadonlySet<string>>(new Set())
  const anchor = signal(0)
  return {
    names,
    anchor,
    toggle(name, row) {
      const next = new Set(names.value)
      if (!next.delete(name)) next.add(name)
      names.value = next
      anchor.value = row
    },
    range(listing, from, to) {
      const next = new Set(names.value)
      for (let row = Math.min(from, to); row <= Math.max(from, to); row++) {
        const entry = listing.entryAt(row)
        if (entry) next.add(entry.name)
      }
      names.value = next
    },
    clear() {
      names.value = new Set()
    },
  }
}
