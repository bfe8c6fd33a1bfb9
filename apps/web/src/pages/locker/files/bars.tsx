// The bars above the list: the folder path, search, uploads, the selection and pending deletions.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { Button } from '../../../ui/button.tsx'
import { Filename } from '../../../ui/filename.tsx'
import { Icon } from '../../../ui/icons.tsx'
import type { Deletions } from './deletions.ts'
import type { KeyKind } from './encryption.ts'
import { type Listing, SORTED_MOST } from './listing.ts'
import { explainFileError } from './problems.ts'
import type { Selection } from './selection.ts'
import { type Chosen, chosenByPicker } from './uploads/dropped.ts'

interface ToolbarProps {
  folder: string
  search: Signal<string>
  listing: Listing
  /** Null if files are uploaded without encryption. */
  encryption: KeyKind | null
  canUpload: boolean
  onFolder: (folder: string) => void
  onFiles: (chosen: Chosen) => void
  onEncrypt: () => void
  onNewFolder: () => void
}

export function Toolbar({ folder, search, listing, encryption, canUpload, ...on }: ToolbarProps) {
  const { onFolder, onFiles, onEncrypt, onNewFolder } = on
  return (
    <div class="files-toolbar">
      <div class="row">
        <Picker label={t.upload.files} icon="upload" isPrimary isDisabled={!canUpload} onFiles={onFiles} />
        <Picker label={t.upload.folder} icon="folder" isFolder isDisabled={!canUpload} onFiles={onFiles} />
        <Button disabled={!canUpload} onClick={onNewFolder}>
          <Icon name="folder" />
          {t.upload.newFolder}
        </Button>
        <button type="button" class="button" aria-pressed={encryption !== null} onClick={onEncrypt}>
          <Icon name="lock" />
          {encryption ? t.key.on[encryption] : t.key.off}
        </button>
        <label class="files-search">
          <Icon name="search" />
          <span class="quiet-text">{t.list.search}</span>
          <input
            type="search"
            class="input"
            placeholder={t.list.search}
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value
            }}
          />
        </label>
      </div>
      <div class="files-where">
        <Trail folder={folder} onFolder={onFolder} />
        <span class="files-count" role="status">
          {countText(listing)}
        </span>
      </div>
    </div>
  )
}

function countText(listing: Listing): string {
  const { rows, isCounted, state, place, canSort, isSorted } = listing
  if (state.value !== 'ready') return ''
  const { search } = place.value
  if (!isCounted.value) return search ? t.list.foundMore(rows.value - 1) : t.list.counting
  const count = search ? t.list.found(rows.value) : t.list.entries(rows.value)
  if (!canSort()) return t.list.onlyByName(count, SORTED_MOST)
  return isSorted() ? count : t.list.sorting(count)
}

function Trail({ folder, onFolder }: { folder: string; onFolder: (folder: string) => void }) {
  const names = folder.split('/').filter(Boolean)
  const steps = [
    { name: t.list.top, to: '' },
    ...names.map((name, i) => ({ name, to: `${names.slice(0, i + 1).join('/')}/` })),
  ]
  return (
    <nav aria-label={t.list.trail} class="files-trail">
      <ol>
        {steps.map(({ name, to }, i) => (
          <li key={to}>
            {i === steps.length - 1 ? (
              <span aria-current="location">
                <Filename name={name} />
              </span>
            ) : (
              <button type="button" onClick={() => onFolder(to)}>
                <Filename name={name} />
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

interface PickerProps {
  label: string
  icon: 'upload' | 'folder'
  isPrimary?: boolean
  isFolder?: boolean
  isDisabled: boolean
  onFiles: (chosen: Chosen) => void
}

function Picker({ label, icon, isPrimary, isFolder, isDisabled, onFiles }: PickerProps) {
  return (
    <label class={isPrimary ? 'button button-primary' : 'button'}>
      <Icon name={icon} />
      {label}
      <input
        class="quiet-text"
        type="file"
        multiple
        disabled={isDisabled}
        {...(isFolder && { webkitdirectory: true })}
        onChange={({ currentTarget }) => {
          const { files } = currentTarget
          if (files) onFiles(chosenByPicker(files))
          // Reset, so that the same file can be chosen again.
          currentTarget.value = ''
        }}
      />
    </label>
  )
}

interface SelectionBarProps {
  selection: Selection
  canWrite: boolean
  onDownload: () => void
  onMove: () => void
  onDelete: () => void
}

export function SelectionBar({ selection, canWrite, onDownload, onMove, onDelete }: SelectionBarProps) {
  const { size } = selection.entries.value
  if (size === 0) return null
  const isSingleFile = size === 1 && [...selection.entries.value.values()][0]?.kind === 'file'
  return (
    <section class="files-bar" aria-label={t.selection.label}>
      <span>{t.selection.count(size)}</span>
      <div class="row">
        <Button onClick={onDownload}>{isSingleFile ? t.details.download : t.selection.zip}</Button>
        <Button disabled={!canWrite} onClick={onMove}>
          {t.selection.move}
        </Button>
        <Button onClick={onDelete}>{t.details.delete}</Button>
        <Button kind="quiet" onClick={selection.clear}>
          {t.selection.clear}
        </Button>
      </div>
    </section>
  )
}

const UNREADABLE_SHOWN = 5

/** Lists chosen files that could not be read; the rest is uploaded. */
export function UnreadableNote({ paths }: { paths: Signal<readonly string[]> }) {
  const { length } = paths.value
  if (length === 0) return null
  return (
    <div class="note note-bad" role="alert">
      <b>{t.upload.unreadable(length)}</b>
      <ul>
        {paths.value.slice(0, UNREADABLE_SHOWN).map((path) => (
          <li key={path}>
            <Filename name={path} />
          </li>
        ))}
      </ul>
      {length > UNREADABLE_SHOWN && <p>{t.uploads.more(length - UNREADABLE_SHOWN)}</p>}
      <Button
        kind="quiet"
        onClick={() => {
          paths.value = []
        }}
      >
        {common.states.close}
      </Button>
    </div>
  )
}

export function DeletionBar({ deletions }: { deletions: Deletions }) {
  const { pending, failed, skipped } = deletions
  const seconds = useSignal(0)
  useEffect(() => {
    if (!pending.value) return
    const { at } = pending.value
    const count = () => {
      seconds.value = Math.max(0, Math.ceil((at - Date.now()) / 1000))
    }
    count()
    const timer = setInterval(count, 250)
    return () => clearInterval(timer)
  }, [pending.value])
  const problem = failed.value && explainFileError(failed.value.error)
  return (
    <>
      {pending.value && (
        <section class="files-bar files-bar-warn" aria-label={t.deletion.label}>
          <span role="status">{t.deletion.pending(pending.value.names.size)}</span>
          <span aria-hidden="true">{t.deletion.seconds(seconds.value)}</span>
          <div class="row">
            <Button kind="primary" onClick={deletions.undo}>
              {t.deletion.undo}
            </Button>
            <Button onClick={() => void deletions.flush()}>{t.deletion.now}</Button>
          </div>
        </section>
      )}
      {skipped.value > 0 && (
        <p class="note" role="status">
          {t.deletion.skipped(skipped.value)}
        </p>
      )}
      {problem && (
        <div class="note note-bad" role="alert">
          <b>{t.deletion.failed(common.number(failed.value?.files ?? 0))}</b>
          <p>
            {problem.title}. {problem.text}
          </p>
        </div>
      )}
    </>
  )
}
