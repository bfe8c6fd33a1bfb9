// The entries of a folder or a search. Only the visible pages are loaded. Any row can be reached directly, because the
// gateway reports where each page begins.

import { type Signal, signal } from '@preact/signals'
import type { FileList } from '@svc/api/files'
import { compareCodePoints } from '@svc/protocol/order'
import { type Entry, isAsListed, orderBy, type Sorting } from './sorting.ts'

/** The listed folder (ends with a slash, empty for the top), or a search for a text in all names below it. */
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

export interface Listing {
  readonly place: Signal<Place>
  readonly state: Signal<'loading' | 'ready' | { error: unknown }>
  /** The number of rows, plus one if more are known to follow. */
  readonly rows: Signal<number>
  /** Whether the number of rows is the number of all entries. */
  readonly isCounted: Signal<boolean>
  /** Changes with every page that arrives. */
  readonly version: Signal<number>
  readonly sorting: Signal<Sorting>
  /** Whether there are few enough entries to load and sort them all. */
  canSort(): boolean
  /** Whether the rows are in the chosen order. Until all are loaded, they are in name order. */
  isSorted(): boolean
  open(place: Place): Promise<void>
  /**
   * Reloads the same folder or search; rows stay until the new ones are there. Counting a long list is expensive for the
   * gateway, so it is postponed while more changes are expected. Calls in the meantime cause one more reload.
   */
  refresh(options?: { isChanging?: boolean }): Promise<void>
  /** Null while it is not loaded. */
  entryAt(row: number): Entry | null
  rowOf(name: string): number | null
  /** Loads the pages of these rows. Call it again when the version or the order changes. */
  need(first: number, last: number): void
  stop(): void
}

export const PAGE = 500
/** The most entries that are sorted here. The gateway lists only in name order. */
export const SORTED_MOST = 20 * PAGE
/** The number of pages in memory; the pages farthest from the visible rows are dropped first. */
const MAX_PAGES_IN_MEMORY = 40

export function createListing(read: ReadPage): Listing {
  const place = signal<Place>({ folder: '', search: '' })
  const state = signal<'loading' | 'ready' | { error: unknown }>('loading')
  const rows = signal(0)
  const isCounted = signal(false)
  const version = signal(0)
  const sorting = signal<Sorting>({ key: 'name', isDescending: false })
  let running = new AbortController()
  let isStopped = false
  /** Whether the first page is loading, which reports where the others begin. */
  let isOpening = false
  const pages = new Map<number, Entry[]>()
  /** The start of each page, if known; the first page has no cursor. */
  let starts: (string | undefined)[] = [undefined]
  /** The pages of the current load. Other pages are from the previous one. */
  let asked = new Set<number>()
  /** Whether a page with an unexpected end recounts the list: once per load. */
  let mayCountAgain = false

  const query = ({ folder, search }: Place): PageQuery => ({
    limit: PAGE,
    ...(folder && { prefix: folder }),
    ...(search ? { search } : { folders: true }),
  })

  async function open(next: Place, isChanging = false): Promise<void> {
    if (isStopped) return
    running.abort()
    running = new AbortController()
    const { signal } = running
    isOpening = true
    const isSame = next.folder === place.value.folder && next.search === place.value.search
    if (!isSame || state.value !== 'ready') {
      pages.clear()
      starts = [undefined]
      rows.value = 0
      isCounted.value = false
      state.value = 'loading'
    }
    place.value = next
    try {
      const first = await read(query(next), signal)
      if (signal.aborted) return
      isOpening = false
      asked = new Set([0])
      pages.set(0, entriesOf(first, next))
      const canCount = next.search === '' && !isChanging
      mayCountAgain = false
      learn(0, first)
      state.value = 'ready'
      if (first.next_cursor !== undefined && canCount) await count(signal)
      mayCountAgain = canCount
    } catch (error) {
      if (!signal.aborted) state.value = { error }
    }
  }

  let queued: { isChanging: boolean } | null = null
  let refreshing: Promise<void> | null = null

  function refresh({ isChanging = false } = {}): Promise<void> {
    queued = { isChanging: isChanging && (queued?.isChanging ?? true) }
    refreshing ??= refreshAll().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  async function refreshAll(): Promise<void> {
    for (let next = queued; next; next = queued) {
      queued = null
      await open(place.value, next.isChanging)
    }
  }

  async function count(signal: AbortSignal): Promise<void> {
    const { outline } = await read({ ...query(place.value), outline: true }, signal)
    if (signal.aborted || !outline) return
    const before = starts
    starts = [undefined, ...outline.cursors]
    // A page with another start or end is loaded again.
    for (const index of asked)
      if (index > 0 && (before[index] !== starts[index] || before[index + 1] !== starts[index + 1])) asked.delete(index)
    for (const index of pages.keys()) if (index >= starts.length) pages.delete(index)
    rows.value = outline.entries
    isCounted.value = true
    version.value++
  }

  /** Updates the known number of rows from a page. */
  function learn(index: number, { next_cursor }: FileList): void {
    const end = index * PAGE + (pages.get(index)?.length ?? 0)
    const isExpected = starts[index + 1] === next_cursor
    if (next_cursor === undefined) {
      starts.length = index + 1
      for (const other of pages.keys()) if (other > index) pages.delete(other)
      rows.value = end
      isCounted.value = true
    } else {
      if (index + 1 >= starts.length) isCounted.value = false
      starts[index + 1] = next_cursor
      rows.value = Math.max(rows.value, end + 1)
    }
    version.value++
    if (isExpected || !mayCountAgain) return
    mayCountAgain = false
    const { signal } = running
    count(signal).catch((error: unknown) => {
      if (!signal.aborted) state.value = { error }
    })
  }

  async function load(index: number): Promise<void> {
    if (isOpening || asked.has(index) || (index > 0 && starts[index] === undefined)) return
    asked.add(index)
    const { signal } = running
    const cursor = starts[index]
    try {
      const page = await read({ ...query(place.value), ...(cursor && { cursor }) }, signal)
      if (signal.aborted) return
      pages.set(index, entriesOf(page, place.value))
      forgetFar(index)
      learn(index, page)
    } catch (error) {
      if (signal.aborted) return
      asked.delete(index)
      state.value = { error }
    }
  }

  function forgetFar(near: number): void {
    if (pages.size <= MAX_PAGES_IN_MEMORY) return
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near))[0] as number
    pages.delete(far)
    asked.delete(far)
  }

  const canSort = () => isCounted.value && rows.value <= SORTED_MOST
  const isAllRead = () => canSort() && starts.every((_, index) => pages.has(index))

  /** The loaded entries in row order, recomputed after a change. */
  let ordered: { of: string; sorted: Entry[] | null; rowByName: Map<string, number> } | null = null

  function inOrder() {
    const { key, isDescending } = sorting.value
    const of = `${version.value} ${isAllRead()} ${key} ${isDescending}`
    if (ordered?.of === of) return ordered
    // The gateway lists folders among the files. A list of several pages stays so, because it is read page by page.
    const isOther = isAllRead() && (starts.length === 1 || !isAsListed(sorting.value))
    const all = isOther ? starts.flatMap((_, index) => pages.get(index) ?? []) : null
    const sorted = all?.toSorted(orderBy(sorting.value)) ?? null
    const rowByName = new Map<string, number>()
    for (const [index, page] of sorted ? [[0, sorted] as const] : pages)
      page.forEach(({ name }, i) => {
        rowByName.set(name, index * PAGE + i)
      })
    ordered = { of, sorted, rowByName }
    return ordered
  }

  return {
    place,
    state,
    rows,
    isCounted,
    version,
    sorting,
    canSort,
    isSorted: () => isAsListed(sorting.value) || isAllRead(),
    open: (next) => open(next),
    refresh,
    entryAt(row) {
      const { sorted } = inOrder()
      return (sorted ? sorted[row] : pages.get(Math.floor(row / PAGE))?.[row % PAGE]) ?? null
    },
    rowOf: (name) => inOrder().rowByName.get(name) ?? null,
    need(first, last) {
      const needsAll = canSort() && !isAsListed(sorting.value)
      const [from, to] = needsAll ? [0, rows.value - 1] : [first, last]
      for (let index = Math.floor(from / PAGE); index <= Math.floor(to / PAGE); index++) void load(index)
    },
    stop() {
      isStopped = true
      running.abort()
    },
  }
}

/** The entries in list order. Rejects an answer about another folder. */
function entriesOf({ files, folders = [] }: FileList, { folder }: Place): Entry[] {
  const entries: Entry[] = [
    ...files.map((file) => ({ kind: 'file' as const, name: file.filename, file })),
    ...folders.map((name) => ({ kind: 'folder' as const, name })),
  ]
  const inside = entries.filter(({ name }) => name.startsWith(folder) && name.length > folder.length)
  return inside.sort((a, b) => compareCodePoints(a.name, b.name)).slice(0, PAGE)
}
