// The entries of a folder or a search, of which only the pages in sight are loaded. Any row can be reached at once:
// the gateway says where each page begins.

import { type Signal, signal } from '@preact/signals'
import type { FileEntry } from '@svc/api/file-entries'
import type { FileList } from '@svc/api/files'
import { compareCodePoints } from '@svc/protocol/order'

export type Entry = { kind: 'folder'; name: string } | { kind: 'file'; name: string; file: FileEntry }

/** What is listed: a folder with a slash at its end, empty for the whole locker, or all names below it with a text. */
interface Place {
  folder: string
  search: string
}

export interface PageQuery {
  limit: number
  cursor?: string
  prefix?: string
  folders?: boolean
  search?: string
  outline?: boolean
}

export type ReadPage = (query: PageQuery, signal: AbortSignal) => Promise<FileList>

export type SortKey = 'name' | 'size' | 'changed'
interface Sorting {
  key: SortKey
  isDescending: boolean
}

export interface Listing {
  readonly place: Signal<Place>
  readonly state: Signal<'loading' | 'ready' | { error: unknown }>
  /** Rows of the list; where more are known to follow, one more. */
  readonly rows: Signal<number>
  /** Whether the number of rows is that of all entries. */
  readonly isCounted: Signal<boolean>
  /** Changes with every page that arrives. */
  readonly version: Signal<number>
  readonly sorting: Signal<Sorting>
  /** Whether everything is loaded, so that it can be sorted here. */
  canSort(): boolean
  open(place: Place): Promise<void>
  /** Reads the same place again; rows stay until the new ones are there. */
  refresh(): Promise<void>
  /** Null while it is not loaded. */
  entryAt(row: number): Entry | null
  rowOf(name: string): number | null
  /** Loads what these rows need. */
  need(first: number, last: number): void
  stop(): void
}

export const PAGE = 500
/** Pages in memory; those farthest from the rows in sight are dropped first. */
const KEPT_PAGES = 40

export function createListing(read: ReadPage): Listing {
  const place = signal<Place>({ folder: '', search: '' })
  const state = signal<'loading' | 'ready' | { error: unknown }>('loading')
  const rows = signal(0)
  const isCounted = signal(false)
  const version = signal(0)
  const sorting = signal<Sorting>({ key: 'name', isDescending: false })
  let running = new AbortController()
  let pages = new Map<number, Entry[]>()
  let sorted: { of: string; entries: Entry[] } | null = null
  /** Where each page begins, as far as known; the first begins at the beginning. */
  let starts: (string | undefined)[] = [undefined]
  let asked = new Set<number>()

  const query = ({ folder, search }: Place): PageQuery => ({
    limit: PAGE,
    ...(folder && { prefix: folder }),
    ...(search ? { search } : { folders: true }),
  })

  async function open(next: Place): Promise<void> {
    running.abort()
    const mine = new AbortController()
    running = mine
    const isSame = next.folder === place.value.folder && next.search === place.value.search
    if (!isSame || state.value !== 'ready') {
      pages = new Map()
      sorted = null
      rows.value = 0
      state.value = 'loading'
    }
    place.value = next
    try {
      const first = await read(query(next), mine.signal)
      if (mine.signal.aborted) return
      pages = new Map([[0, entriesOf(first, next)]])
      sorted = null
      starts = [undefined]
      asked = new Set([0])
      learn(0, first)
      state.value = 'ready'
      if (first.next_cursor !== undefined && next.search === '') await outline(next, mine.signal)
    } catch (error) {
      if (!mine.signal.aborted) state.value = { error }
    }
  }

  async function outline(of: Place, signal: AbortSignal): Promise<void> {
    const whole = await read({ ...query(of), outline: true }, signal)
    if (signal.aborted || !whole.outline) return
    const { entries, cursors } = whole.outline
    starts = [undefined, ...cursors]
    rows.value = entries
    isCounted.value = true
    version.value++
  }

  /** What a page says about how many there are. */
  function learn(index: number, page: FileList): void {
    const end = index * PAGE + (pages.get(index)?.length ?? 0)
    if (page.next_cursor === undefined) {
      rows.value = end
      isCounted.value = true
    } else {
      starts[index + 1] ??= page.next_cursor
      rows.value = Math.max(rows.value, end + 1)
      if (index === 0) isCounted.value = false
    }
    version.value++
  }

  async function load(index: number): Promise<void> {
    if (asked.has(index) || (index > 0 && starts[index] === undefined)) return
    asked.add(index)
    const { signal } = running
    const cursor = starts[index]
    try {
      const page = await read({ ...query(place.value), ...(cursor && { cursor }) }, signal)
      if (signal.aborted) return
      pages.set(index, entriesOf(page, place.value))
      learn(index, page)
      forgetFar(index)
    } catch (error) {
      asked.delete(index)
      if (!signal.aborted) state.value = { error }
    }
  }

  function forgetFar(near: number): void {
    if (pages.size <= KEPT_PAGES) return
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near))[0] as number
    pages.delete(far)
    asked.delete(far)
  }

  const canSort = () => isCounted.value && rows.value <= PAGE && pages.has(0)

  function sortedEntries(): Entry[] {
    const { key, isDescending } = sorting.value
    const of = `${version.value} ${key} ${isDescending}`
    if (sorted?.of !== of) sorted = { of, entries: (pages.get(0) ?? []).toSorted(orderBy(key, isDescending)) }
    return sorted.entries
  }

  return {
    place,
    state,
    rows,
    isCounted,
    version,
    sorting,
    canSort,
    open,
    refresh: () => open(place.value),
    entryAt(row) {
      if (canSort()) return sortedEntries()[row] ?? null
      return pages.get(Math.floor(row / PAGE))?.[row % PAGE] ?? null
    },
    rowOf(name) {
      if (canSort()) {
        const row = sortedEntries().findIndex((entry) => entry.name === name)
        return row === -1 ? null : row
      }
      for (const [index, page] of pages) {
        const row = page.findIndex((entry) => entry.name === name)
        if (row !== -1) return index * PAGE + row
      }
      return null
    },
    need(first, last) {
      for (let index = Math.floor(first / PAGE); index <= Math.floor(last / PAGE); index++) void load(index)
    },
    stop: () => running.abort(),
  }
}

/** In the order of the list. A gateway that answers for another place is not believed. */
function entriesOf({ files, folders = [] }: FileList, { folder }: Place): Entry[] {
  const entries: Entry[] = [
    ...files.map((file) => ({ kind: 'file' as const, name: file.filename, file })),
    ...folders.map((name) => ({ kind: 'folder' as const, name })),
  ]
  const inside = entries.filter(({ name }) => name.startsWith(folder) && name.length > folder.length)
  return inside.sort((a, b) => compareCodePoints(a.name, b.name)).slice(0, PAGE)
}

function orderBy(key: SortKey, isDescending: boolean): (a: Entry, b: Entry) => number {
  const sign = isDescending ? -1 : 1
  const byName = (a: Entry, b: Entry) => compareCodePoints(a.name, b.name)
  if (key === 'name') return (a, b) => sign * byName(a, b)
  return (a, b) => {
    if (a.kind !== 'file' || b.kind !== 'file') return a.kind === b.kind ? byName(a, b) : a.kind === 'folder' ? -1 : 1
    const order =
      key === 'size'
        ? (a.file.size_bytes ?? -1) - (b.file.size_bytes ?? -1)
        : Date.parse(a.file.uploaded_at ?? '') - Date.parse(b.file.uploaded_at ?? '')
    return sign * (Number.isNaN(order) ? 0 : order) || byName(a, b)
  }
}
