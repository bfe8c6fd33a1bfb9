import type { FileEntry } from '@svc/api/file-entries'
import type { ComponentChildren } from 'preact'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { urlOf } from '../../../address.ts'
import { Filename, shortFilename } from '../../../ui/filename.tsx'
import { Icon } from '../../../ui/icons.tsx'
import type { Entry } from './sorting.ts'

/** The gateway's report about the newest statement. */
export interface RowFacts {
  receiptId: string
  statement: { sequence: number; at: string; isCurrent: boolean } | null
}

interface RowProps {
  row: number
  /** Null while it is loading. */
  entry: Entry | null
  /** The folder that the shown name leaves out. */
  folder: string
  facts: RowFacts
  isFocusable: boolean
  isSelected: boolean
  isPending: boolean
  onFocus: () => void
  onOpen: () => void
  onSelect: (event: MouseEvent) => void
}

export function EntryRow({ row, entry, folder, facts, isFocusable, isSelected, isPending, ...on }: RowProps) {
  const tabIndex = isFocusable ? 0 : -1
  const about = { 'data-row': row, 'aria-rowindex': row + 2, onFocusIn: on.onFocus }
  if (!entry)
    return (
      // biome-ignore lint/a11y/useSemanticElements: part of the grid.
      <div role="row" class="files-row files-row-loading" tabIndex={tabIndex} {...about}>
        {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: part of the grid. */}
        <span role="gridcell" class="files-name">
          {common.states.loading}
        </span>
      </div>
    )
  const { name } = entry
  const file = entry.kind === 'file' ? entry.file : null
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of the grid.
    <div
      role="row"
      class={`files-row${isSelected ? ' files-row-selected' : ''}${isPending ? ' files-row-leaving' : ''}`}
      aria-selected={isSelected}
      tabIndex={tabIndex}
      {...about}
    >
      <Cell name="check">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isSelected}
          disabled={isPending}
          aria-label={t.list.select(shortFilename(name))}
          onClick={on.onSelect}
        />
      </Cell>
      <Cell name="name">
        <Icon name={file ? 'file' : 'folder'} />
        <button type="button" class="files-open" tabIndex={-1} onClick={on.onOpen} disabled={isPending}>
          <Filename name={nameIn(folder, name)} />
        </button>
      </Cell>
      <Cell name="size">{file && (file.size_bytes === null ? '–' : common.bytes(file.size_bytes))}</Cell>
      <Cell name="hash">{file && <HashCell file={file} />}</Cell>
      <Cell name="statement">{file && <StatementCell file={file} facts={facts} />}</Cell>
      <Cell name="changed">{file && dateText(file.uploaded_at)}</Cell>
    </div>
  )
}

function Cell({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: part of the grid.
    <span role="gridcell" class={`files-${name}`}>
      {children}
    </span>
  )
}

function HashCell({ file: { content_hash, uploaded_at } }: { file: FileEntry }) {
  if (content_hash !== null) return <code title={content_hash}>{content_hash.slice('sha256:'.length, 15)}</code>
  return <span class="status status-warn">{uploaded_at === null ? t.list.noBytes : t.list.notConfirmed}</span>
}

/** The statement that the gateway reports for a file, with a link to check it. */
export function StatementCell({ file, facts: { statement, receiptId } }: { file: FileEntry; facts: RowFacts }) {
  const { hash_recorded_at: recorded } = file
  if (recorded === null || !statement) return <span class="not-yet">{t.list.notYet}</span>
  const isBefore = Date.parse(recorded) <= Date.parse(statement.at)
  if (!statement.isCurrent && !isBefore) return <span class="not-yet">{t.list.notYet}</span>
  const words = statement.isCurrent ? t.list.inStatement : t.list.likelyInStatement
  return (
    <a href={urlOf(`/verify/${receiptId}`)} tabIndex={-1} title={words.title(statement.sequence)}>
      {words.text(statement.sequence)}
    </a>
  )
}

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

export function dateText(at: string | null): string {
  const time = Date.parse(at ?? '')
  return Number.isNaN(time) ? '–' : DATE.format(time)
}

/** The name without the current folder, and without the slash of a folder. */
function nameIn(folder: string, name: string): string {
  return name.slice(folder.length).replace(/\/$/, '')
}
