// The list as a grid that renders only the visible rows. Arrow keys move, Space selects, Enter opens.

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { texts as t } from '#texts/files'
import { type Listing, PAGE } from './listing.ts'
import { EntryRow, type RowFacts } from './row.tsx'
import { afterScroll, boxPx, type Geometry, rowsInSight, scrollFor, topShowing } from './scrolling.ts'
import type { Selection } from './selection.ts'
import type { Entry, SortKey } from './sorting.ts'

interface GridProps {
  listing: Listing
  selection: Selection
  hidden: ReadonlySet<string>
  facts: RowFacts
  onOpen: (entry: Entry) => void
  onDelete: () => void
}

const ROW_PX = 44
const PHONE_ROW_PX = 60
const PHONE = '(max-width: 720px)'

export function FileGrid({ listing, selection, hidden, facts, onOpen, onDelete }: GridProps) {
  const box = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const viewPx = useSignal(600)
  const rowPx = useSignal(matchMedia(PHONE).matches ? PHONE_ROW_PX : ROW_PX)
  /** The focused row and its entry: when the list changes, the focus moves with the entry. */
  const focus = useSignal<{ row: number; name: string | null }>({ row: 0, name: null })
  const wantsFocus = useRef(false)
  const scrolledTo = useRef(0)
  const rows = listing.rows.value
  const version = listing.version.value
  const focusedRow = Math.max(
    0,
    Math.min((focus.value.name !== null ? listing.rowOf(focus.value.name) : null) ?? focus.value.row, rows - 1),
  )
  const geometry: Geometry = { rows, rowPx: rowPx.value, viewPx: viewPx.value }
  const { first, end } = rowsInSight(geometry, top.value)

  useEffect(() => {
    const query = matchMedia(PHONE)
    const fit = () => {
      rowPx.value = query.matches ? PHONE_ROW_PX : ROW_PX
    }
    query.addEventListener('change', fit)
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.height > 0) viewPx.value = entry.contentRect.height
    })
    if (box.current) observer.observe(box.current)
    return () => {
      query.removeEventListener('change', fit)
      observer.disconnect()
    }
  }, [])

  // Another folder or search starts at the top.
  const { folder, search } = listing.place.value
  useEffect(() => {
    focus.value = { row: 0, name: null }
    moveTo(0)
  }, [folder, search])

  useEffect(() => {
    if (rows > 0) listing.need(first, Math.max(first, end - 1))
  }, [first, end, rows, version, folder, search, listing.sorting.value])

  // A row that moves, or whose entry disappears, loses the focus.
  const hadFocus = box.current?.contains(document.activeElement) && document.activeElement !== box.current
  useLayoutEffect(() => {
    if (!box.current || (!wantsFocus.current && !(hadFocus && !box.current.contains(document.activeElement)))) return
    const row = box.current.querySelector<HTMLElement>(`[data-row="${focusedRow}"]`)
    if (row) wantsFocus.current = false
    ;(row ?? box.current).focus({ preventScroll: true })
  })

  function moveTo(next: number): void {
    top.value = Math.max(0, Math.min(next, rows * rowPx.value - viewPx.value))
    if (!box.current) return
    box.current.scrollTop = scrollFor(geometry, top.value)
    scrolledTo.current = box.current.scrollTop
  }

  function onScroll(): void {
    const element = box.current as HTMLDivElement // mounted: it emitted the event
    const next = afterScroll(geometry, top.value, scrolledTo.current, element.scrollTop)
    scrolledTo.current = element.scrollTop
    const sight = rowsInSight(geometry, next)
    const active = document.activeElement?.closest<HTMLElement>('[data-row]')
    // A row that is no longer rendered would lose the focus.
    if (
      active &&
      element.contains(active) &&
      (Number(active.dataset.row) < sight.first || Number(active.dataset.row) >= sight.end)
    )
      element.focus({ preventScroll: true })
    top.value = next
  }

  function focusRow(row: number): void {
    const next = Math.max(0, Math.min(row, rows - 1))
    focus.value = { row: next, name: listing.entryAt(next)?.name ?? null }
    wantsFocus.current = true
    moveTo(topShowing(geometry, top.value, next))
  }

  function onKeyDown(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(viewPx.value / rowPx.value) - 1)
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows,
      End: rows,
    }
    const step = steps[event.key]
    const entry = listing.entryAt(focusedRow)
    if (step !== undefined) {
      focusRow(focusedRow + step)
      if (event.shiftKey) selection.range(listing, focusedRow, focus.value.row)
    } else if (event.key === ' ' && entry) selection.toggle(entry)
    else if (event.key === 'Enter' && entry) onOpen(entry)
    else if (event.key === 'Delete' && entry) {
      if (selection.entries.value.size === 0) selection.toggle(entry)
      onDelete()
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) selection.range(listing, 0, rows - 1)
    else if (event.key === 'Escape') selection.clear()
    else return
    event.preventDefault()
  }

  const shown = []
  const names = new Set<string>()
  for (let row = first; row < end; row++) {
    const entry = listing.entryAt(row)
    // While a changed list is reloaded, two pages may contain the same entry.
    const isFirst = entry !== null && names.size < names.add(entry.name).size
    shown.push(
      <EntryRow
        key={isFirst ? `/${entry.name}` : row}
        row={row}
        entry={entry}
        folder={search ? '' : folder}
        facts={facts}
        isFocusable={row === Math.max(first, Math.min(focusedRow, end - 1))}
        isSelected={entry !== null && selection.entries.value.has(entry.name)}
        isPending={entry !== null && hidden.has(entry.name)}
        onFocus={() => {
          focus.value = { row, name: entry?.name ?? null }
        }}
        onOpen={() => entry && onOpen(entry)}
        onSelect={(event) => {
          if (!entry) return
          if (event.shiftKey) selection.extend(listing, row)
          else selection.toggle(entry)
        }}
      />,
    )
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot skip rows and scroll separately.
    <div
      class="files-grid"
      role="grid"
      aria-label={t.list.label}
      aria-rowcount={listing.isCounted.value ? rows + 1 : -1}
      aria-colcount={6}
      aria-multiselectable="true"
      aria-busy={listing.state.value === 'loading'}
    >
      <Head listing={listing} selection={selection} />
      {/* biome-ignore lint/a11y/useSemanticElements: as above. */}
      <div class="files-box" role="rowgroup" ref={box} tabIndex={-1} onScroll={onScroll} onKeyDown={onKeyDown}>
        <div class="files-length" role="presentation" style={{ height: `${boxPx(geometry)}px` }}>
          <div
            class="files-rows"
            role="presentation"
            style={{ transform: `translateY(${scrollFor(geometry, top.value) + first * rowPx.value - top.value}px)` }}
          >
            {shown}
          </div>
        </div>
      </div>
    </div>
  )
}

const COLUMNS: readonly { key: SortKey | 'hash' | 'statement'; isSortable: boolean }[] = [
  { key: 'name', isSortable: true },
  { key: 'size', isSortable: true },
  { key: 'hash', isSortable: false },
  { key: 'statement', isSortable: false },
  { key: 'changed', isSortable: true },
]

function Head({ listing, selection }: { listing: Listing; selection: Selection }) {
  const { key, isDescending } = listing.sorting.value
  const canSort = listing.canSort()
  const rows = listing.rows.value
  const isAllLoaded = listing.isCounted.value && rows <= PAGE
  const sortBy = (column: SortKey) => {
    listing.sorting.value = { key: column, isDescending: key === column && !isDescending }
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of the grid.
    <div role="rowgroup" class="files-head">
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: as the grid; its cells have the buttons. */}
      <div role="row" class="files-row" aria-rowindex={1}>
        {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: part of the grid. */}
        <span role="columnheader" class="files-check">
          {isAllLoaded ? (
            <input
              type="checkbox"
              aria-label={t.selection.all}
              checked={selection.entries.value.size >= rows}
              onChange={(event) => {
                if (event.currentTarget.checked) selection.range(listing, 0, rows - 1)
                else selection.clear()
              }}
            />
          ) : (
            <span class="quiet-text">{t.list.selected}</span>
          )}
        </span>
        {COLUMNS.map(({ key: column, isSortable }) => (
          // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: part of the grid.
          <span
            key={column}
            role="columnheader"
            class={`files-${column}`}
            aria-sort={listing.isSorted() && key === column ? (isDescending ? 'descending' : 'ascending') : undefined}
          >
            {isSortable && canSort ? (
              <button type="button" onClick={() => sortBy(column as SortKey)}>
                {t.list.columns[column]}
                <span aria-hidden="true">{key === column ? (isDescending ? ' ↓' : ' ↑') : ''}</span>
              </button>
            ) : (
              t.list.columns[column]
            )}
          </span>
        ))}
      </div>
    </div>
  )
}
