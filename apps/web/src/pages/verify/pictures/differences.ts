// The differences of two file lists. Both are in code-point order, so they are merged, not searched: two lists of a
// million files take a second or two. Worker-safe; the result stays in the worker, and a page requests rows.

import type { FileEntry } from '@svc/protocol/merkle'
import type { PackedFiles } from './packed-files.ts'

export const CHANGES = ['added', 'changed', 'removed', 'renamed', 'unchanged'] as const
export type Change = (typeof CHANGES)[number]

export interface DifferenceRow {
  change: Change
  /** Null for an added file. */
  before: FileEntry | null
  /** Null for a removed file. */
  after: FileEntry | null
}

export interface RowQuery {
  changes: readonly Change[]
  /** Part of either name; case is ignored. */
  text: string
  from: number
  limit: number
}

export interface Differences {
  counts: Record<Change, number>
  /** Rows in name order, and the total number of matches. */
  rows(query: RowQuery): { rows: DifferenceRow[]; matching: number }
}

const NONE = 0xffffffff

export function compareFiles(before: PackedFiles, after: PackedFiles): Differences {
  const capacity = before.count + after.count
  // A row has a kind, and the indices of its file in both lists.
  const kinds = new Uint8Array(capacity)
  const olds = new Uint32Array(capacity)
  const news = new Uint32Array(capacity)
  let length = 0
  const add = (change: Change, old: number, fresh: number) => {
    kinds[length] = CHANGES.indexOf(change)
    olds[length] = old
    news[length] = fresh
    length++
  }

  for (let i = 0, j = 0; i < before.count || j < after.count; ) {
    const order = i === before.count ? 1 : j === after.count ? -1 : before.compareName(i, after, j)
    if (order < 0) add('removed', i++, NONE)
    else if (order > 0) add('added', NONE, j++)
    else add(before.hasSameContent(i, after, j) ? 'unchanged' : 'changed', i++, j++)
  }
  pairRenamed()

  const counts = Object.fromEntries(CHANGES.map((change) => [change, 0])) as Differences['counts']
  for (let row = 0; row < length; row++) {
    const change = changeOf(row)
    if (change !== null) counts[change]++
  }
  return { counts, rows }

  /** Pairs removed and added files with the same content as renamed, each once, in order. */
  function pairRenamed(): void {
    const gone = new Map<number, number[]>()
    for (let row = 0; row < length; row++) {
      if (changeOf(row) !== 'removed') continue
      const key = before.contentKey(olds[row] as number)
      const others = gone.get(key)
      if (others) others.push(row)
      else gone.set(key, [row])
    }
    /** The number of used rows of each list, so that many equal contents do not need quadratic time. */
    const used = new Map<number, number>()
    for (let row = 0; row < length; row++) {
      if (changeOf(row) !== 'added') continue
      const fresh = news[row] as number
      const key = after.contentKey(fresh)
      const at = used.get(key) ?? 0
      const from = gone.get(key)?.[at]
      if (from === undefined || !before.hasSameContent(olds[from] as number, after, fresh)) continue
      used.set(key, at + 1)
      kinds[row] = CHANGES.indexOf('renamed')
      olds[row] = olds[from] as number
      kinds[from] = PAIRED
    }
  }

  function changeOf(row: number): Change | null {
    return CHANGES[kinds[row] as number] ?? null
  }

  function rows({ changes, text, from, limit }: RowQuery) {
    const wanted = new Set<number>(changes.map((change) => CHANGES.indexOf(change)))
    const lower = text.toLowerCase()
    const found: DifferenceRow[] = []
    let matching = 0
    for (let row = 0; row < length; row++) {
      if (!wanted.has(kinds[row] as number) || !hasText(row, lower)) continue
      if (matching >= from && found.length < limit) found.push(rowAt(row))
      matching++
    }
    return { rows: found, matching }
  }

  function hasText(row: number, lower: string): boolean {
    if (lower === '') return true
    const [old, fresh] = [olds[row] as number, news[row] as number]
    return (
      (old !== NONE && before.filename(old).toLowerCase().includes(lower)) ||
      (fresh !== NONE && after.filename(fresh).toLowerCase().includes(lower))
    )
  }

  function rowAt(row: number): DifferenceRow {
    const [old, fresh] = [olds[row] as number, news[row] as number]
    return {
      change: changeOf(row) as Change, // a paired row is never wanted
      before: old === NONE ? null : before.at(old),
      after: fresh === NONE ? null : after.at(fresh),
    }
  }
}

/** The row of the old name of a renamed file, which the row of its new name shows. */
const PAIRED = CHANGES.length
