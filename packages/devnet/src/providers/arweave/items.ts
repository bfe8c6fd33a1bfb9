// Data items that were taken, and what became of each.

import type { GoodItem } from './verify-item.ts'

export interface Item extends GoodItem {
  path: string
  /** How often it was paid for. */
  paid: number
  hasFailed: boolean
}

export interface Items {
  find(id: string): Item | null
  list(): Item[]
  /** Whether it has the item, and would not take it again. */
  has(id: string): boolean
  keep(path: string, item: GoodItem): void
}

export function createItems(): Items {
  const items = new Map<string, Item>()
  return {
    find: (id) => items.get(id) ?? null,
    list: () => [...items.values()],
    has: (id) => items.get(id)?.hasFailed === false,
    keep(path, item) {
      const paid = (items.get(item.id)?.paid ?? 0) + 1
      items.set(item.id, { ...item, path, paid, hasFailed: false })
    },
  }
}
