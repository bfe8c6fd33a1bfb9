// The files of a locker: the list, uploads, and what is done with files.

import { useSignal } from '@preact/signals'
import { listFiles } from '@svc/api/files'
import { storageJournal } from '@svc/sdk'
import { useEffect, useMemo } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { createSignedClient } from '../../../signed-client.ts'
import { Empty, ErrorState, Loading } from '../../../ui/states.tsx'
import { toast } from '../../../ui/toast.tsx'
import type { LockerSession } from '../session.ts'
import { DeletionBar, SelectionBar, Toolbar } from './bars.tsx'
import { createDeletions } from './deletions.ts'
import { FileDetails } from './details.tsx'
import { downloadFile } from './download.ts'
import { FileDrop } from './drop.tsx'
import { encryptionKey, encryptWith } from './encryption.ts'
import { folder, followAddress, openFolder } from './folder-address.ts'
import { FileGrid } from './grid.tsx'
import { KeyDialog, type KeyPurpose } from './key-dialog.tsx'
import { createListing, type Entry } from './listing.ts'
import { explainFileError } from './problems.ts'
import { RenameDialog } from './rename.tsx'
import type { RowFacts } from './row.tsx'
import { createSelection } from './selection.ts'
import { ShareDialog } from './share.tsx'
import { ConflictDialog } from './uploads/conflict-dialog.tsx'
import type { ChosenFile } from './uploads/dropped.ts'
import { UploadPanel } from './uploads/panel.tsx'
import { type ConflictChoice, existingNames, plannedFiles, resolveConflicts } from './uploads/plan.ts'
import { createUploads } from './uploads/queue.ts'
import { Unfinished } from './uploads/unfinished.tsx'
import './files.css'

type FileOf = Extract<Entry, { kind: 'file' }>
type Open =
  | { what: 'details' | 'share' | 'rename'; entry: FileOf }
  /** After the key, the file that it is for is shown again. */
  | { what: 'key'; purpose: KeyPurpose; afterwards: Open | null }
  | { what: 'conflicts'; names: readonly string[]; answer: (choice: ConflictChoice | null) => void }

/** Lists that change with every file of an upload are read again after a while. */
const REREAD_MS = 1_500

export function FileBrowser({ session }: { session: LockerSession }) {
  const { client, locker } = session
  const parts = useMemo(() => createParts(session), [session])
  const { listing, selection, deletions, uploads } = parts
  const open = useSignal<Open | null>(null)
  const downloading = useSignal<{ name: string; done: number; total: number | null } | null>(null)
  const isCurrent = useSignal(false)
  const search = useSignal('')
  const close = () => {
    open.value = null
  }

  useEffect(() => followAddress(), [])
  useEffect(() => {
    selection.clear()
    const timer = setTimeout(
      () => void listing.open({ folder: folder.value, search: search.value.trim() }),
      search.value ? 200 : 0,
    )
    return () => clearTimeout(timer)
  }, [folder.value, search.value])
  useEffect(() => deletions.watchPage(), [deletions])
  useEffect(() => () => listing.stop(), [listing])
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (uploads.totals().isActive) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [uploads])

  const { attestation, last_manifest_change_at } = session.facts.value
  // Whether the newest statement is about exactly these files: only the gateway knows.
  useEffect(() => {
    if (!session.isSilent) return
    client.usage(locker).then(
      (usage) => {
        isCurrent.value = !usage.has_unattested_changes
      },
      () => {},
    )
  }, [attestation?.evidence_seq, attestation?.attested_at, last_manifest_change_at])

  const statement =
    attestation?.evidence_seq != null && attestation.attested_at
      ? { sequence: attestation.evidence_seq, at: attestation.attested_at, isCurrent: isCurrent.value }
      : null
  const facts: RowFacts = { receiptId: locker.receipt_id, statement }

  const openEntry = (name: string) => {
    const row = listing.rowOf(name)
    const entry = row === null ? null : listing.entryAt(row)
    if (entry?.kind === 'folder') {
      search.value = ''
      openFolder(entry.name)
    } else if (entry) open.value = { what: 'details', entry }
  }

  const upload = async (chosen: readonly ChosenFile[]) => {
    if (chosen.length === 0) return
    const encrypt = encryptWith(encryptionKey.value)
    const planned = plannedFiles(chosen, folder.value, encrypt !== null)
    const find = (names: readonly string[]) => existingNames(client, locker, names)
    try {
      const existing = await find(planned.map(({ filename }) => filename))
      const choice = existing.size === 0 ? 'replace' : await ask([...existing])
      if (choice === null) return
      const files = await resolveConflicts(planned, existing, choice, find)
      if (files.length === 0) toast(t.conflicts.allSkipped)
      uploads.add(files.map(({ filename, file, handle }) => ({ filename, file, handle, encrypt })))
    } catch (error) {
      toast(explainFileError(error).title)
    }
  }

  const ask = (names: readonly string[]) =>
    new Promise<ConflictChoice | null>((resolve) => {
      const answer = (choice: ConflictChoice | null) => {
        close()
        resolve(choice)
      }
      open.value = { what: 'conflicts', names, answer }
    })

  const download = async (entries: readonly FileOf[]) => {
    close()
    for (const { file } of entries) {
      const controller = new AbortController()
      downloading.value = { name: file.filename, done: 0, total: file.size_bytes }
      try {
        const outcome = await downloadFile(session, file, {
          signal: controller.signal,
          onProgress: (done, total) => {
            downloading.value = { name: file.filename, done, total }
          },
        })
        toast(t.download[outcome])
      } catch (error) {
        const { title, text } = explainFileError(error)
        toast(`${title}. ${text}`)
      }
    }
    downloading.value = null
  }

  const remove = (names: readonly string[]) => {
    close()
    selection.clear()
    if (names.length > 0) deletions.remove(names)
  }

  const selected = () =>
    [...selection.names.value].flatMap((name) => {
      const row = listing.rowOf(name)
      const entry = row === null ? null : listing.entryAt(row)
      return entry ? [entry] : []
    })
  const selectedFiles = () => selected().filter((entry): entry is FileOf => entry.kind === 'file')

  const { state, rows } = listing
  const isEmpty = state.value === 'ready' && rows.value === 0
  return (
    <FileDrop onFiles={(chosen) => void upload(chosen)}>
      <div class="files stack">
        <Toolbar
          folder={folder.value}
          search={search}
          listing={listing}
          onFolder={openFolder}
          onFiles={(chosen) => void upload(chosen)}
          onEncrypt={() => {
            if (encryptionKey.value) encryptionKey.value = null
            else open.value = { what: 'key', purpose: 'encrypt', afterwards: null }
          }}
        />
        <Unfinished
          lockerId={locker.locker_id}
          hasKey={encryptionKey.value !== null}
          isUploading={(filename) => uploads.all.some((one) => one.filename === filename)}
          onContinue={(files) =>
            uploads.add(
              files.map(({ isEncrypted, ...file }) => ({
                ...file,
                encrypt: isEncrypted ? encryptWith(encryptionKey.value) : null,
              })),
            )
          }
        />
        <UploadPanel uploads={uploads} />
        <DeletionBar deletions={deletions} />
        <SelectionBar
          selection={selection}
          onDownload={selectedFiles().length > 0 ? () => void download(selectedFiles()) : null}
          onDelete={() => remove([...selection.names.value])}
        />
        {typeof state.value === 'object' ? (
          <ErrorState {...explainFileError(state.value.error)} retry={() => void listing.refresh()} />
        ) : state.value === 'loading' && rows.value === 0 ? (
          <Loading label={common.states.loading} />
        ) : isEmpty ? (
          <Empty {...(search.value ? t.list.nothingFound : folder.value ? t.list.emptyFolder : t.list.empty)} />
        ) : (
          <FileGrid
            listing={listing}
            selection={selection}
            hidden={deletions.hidden.value}
            facts={facts}
            onOpen={openEntry}
            onDelete={() => remove([...selection.names.value])}
          />
        )}
        {downloading.value && (
          <p class="downloading" role="status">
            {t.download.running(common.bytes(downloading.value.done))}
          </p>
        )}
      </div>
      {open.value?.what === 'details' && (
        <FileDetails
          session={session}
          file={open.value.entry.file}
          facts={facts}
          onDownload={() => open.value?.what === 'details' && void download([open.value.entry])}
          onShare={() => switchTo('share')}
          onRename={() => switchTo('rename')}
          onDelete={() => open.value?.what === 'details' && remove([open.value.entry.name])}
          onKey={() => {
            open.value = { what: 'key', purpose: 'decrypt', afterwards: open.value }
          }}
          onClose={() => closeIf('details')}
        />
      )}
      {open.value?.what === 'share' && (
        <ShareDialog session={session} file={open.value.entry.file} onClose={() => closeIf('share')} />
      )}
      {open.value?.what === 'rename' && (
        <RenameDialog
          session={session}
          file={open.value.entry.file}
          onRenamed={() => {
            close()
            toast(t.rename.done)
            parts.changed()
          }}
          onClose={() => closeIf('rename')}
        />
      )}
      {open.value?.what === 'key' && (
        <KeyDialog
          session={session}
          purpose={open.value.purpose}
          onClose={() => {
            if (open.value?.what === 'key') open.value = open.value.afterwards
          }}
        />
      )}
      {open.value?.what === 'conflicts' && <ConflictDialog names={open.value.names} onChoose={open.value.answer} />}
    </FileDrop>
  )

  function switchTo(what: 'share' | 'rename'): void {
    if (open.value && 'entry' in open.value) open.value = { what, entry: open.value.entry }
  }

  /** A dialog that another one took the place of closes, too. */
  function closeIf(what: Open['what']): void {
    if (open.value?.what === what) close()
  }
}

function createParts(session: LockerSession) {
  const { client, locker, signer } = session
  const params = { locker_id: locker.locker_id }
  const listing = createListing(async (query, signal) => (await client.call(listFiles, { params, query, signal })).body)
  let isWaiting = false

  /** Reads the list and the facts of the locker again, once for many changes. */
  const changedSoon = () => {
    if (isWaiting) return
    isWaiting = true
    setTimeout(() => {
      isWaiting = false
      changed()
    }, REREAD_MS)
  }
  const changed = () => {
    void listing.refresh()
    if (session.isSilent) void session.refresh().catch(() => {})
  }
  // Unfinished uploads are noted where a reload finds them.
  let uploading: ReturnType<typeof createSignedClient> | undefined
  const uploadClient = () => {
    uploading ??= createSignedClient(signer, storageJournal())
    return uploading
  }
  return {
    listing,
    selection: createSelection(),
    deletions: createDeletions(client, locker, changed),
    uploads: createUploads(uploadClient, locker, changedSoon),
    changed,
  }
}
