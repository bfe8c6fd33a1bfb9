// The order of entries: by name, as the gateway lists them, or by another column.

import type { FileEntry } from '@svc/api/file-entries'
import { compareCodePoints } from '@svc/protocol/order'

export type Entry = { kind: 'folder'; name: string } | { kind: 'file'; name: string; file: FileEntry }

export type SortKey = 'name' | 'size' | 'changed'

export interface Sorting {
  key: SortKey
  isDescending: boolean
}

export function isAsListed({ key, isDescending }: Sorting): boolean {
  return key === 'name' && !isDescending
}

/** Folders come first. */
export function orderBy({ key, isDescending }: Sorting): (a: Entry, b: Entry) => number {
  const sign = isDescending ? -1 : 1
  const byName = (a: Entry, b: Entry) => compareCodePoints(a.name, b.name)
  return (a, b) => {
    if (a.kind !== b.kind) return a.kind === 'folder' ? -1 : 1
    if (key === 'name') return sign * byName(a, b)
    if (a.kind !== 'file' || b.kind !== 'file') return byName(a, b)
    const order =
      key === 'size'
        ? (a.file.size_bytes ?? -1) - (b.file.size_bytes ?? -1)
        : Date.parse(a.file.uploaded_at ?? '') - Date.parse(b.file.uploaded_at ?? '')
    return sign * (Number.isNaN(order) ? 0 : order) || byName(a, b)
  }
}
