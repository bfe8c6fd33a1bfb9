// The files of a locker: the list, uploads, and actions on files.

import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { Empty, ErrorState, Loading } from '../../../ui/states.tsx'
import { toast } from '../../../ui/toast.tsx'
import type { LockerSession } from '../session.ts'
import { DeletionBar, SelectionBar, Toolbar, UnreadableNote } from './bars.tsx'
import { filesOf } from './deletions.ts'
import { FileDetails } from './details.tsx'
import { downloadFile, downloadZip } from './download.ts'
import { FileDrop } from './drop.tsx'
import { encryptionKind, encryptNow, type KeyPurpose, stopEncrypting } from './encryption.ts'
import { folder, followAddress, openFolder } from './folder-address.ts'
import { FileGrid } from './grid.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { MoveDialog } from './move.tsx'
import { NewFolderDialog } from './new-folder.tsx'
import { createParts } from './parts.ts'
import { explainFileError } from './problems.ts'
import { RenameDialog } from './rename.tsx'
import type { RowFacts } from './row.tsx'
import { ShareDialog } from './share.tsx'
import { ShareFolder } from './share-folder.tsx'
import type { Entry } from './sorting.ts'
import { ConflictDialog } from './uploads/conflict-dialog.tsx'
import type { Chosen } from './uploads/dropped.ts'
import { createIntake } from './uploads/intake.ts'
import { Unfinished } from './uploads/interrupted-uploads.tsx'
import { UploadPanel } from './uploads/panel.tsx'
import type { ConflictChoice } from './uploads/plan.ts'
import type { NewUpload, Upload } from './uploads/upload-list.ts'
import './files.css'

type FileOf = Extract<Entry, { kind: 'file' }>
type Open =
  | { what: 'details' | 'share' | 'rename'; entry: FileOf }
  | { what: 'move'; entries: readonly Entry[] }
  | { what: 'folder' }
  /** `afterwards`: the dialog to show again after the key is given. */
  | { what: 'key'; purpose: KeyPurpose; afterwards: Open | null }

interface Question {
  names: readonly string[]
  answer: (choice: ConflictChoice | null) => void
}

export function FileBrowser({ session }: { session: LockerSession }) {
  const { client, locker } = session
  const parts = useMemo(() => createParts(session), [session])
  const { listing, selection, deletions, uploads } = parts
  const { locker_id: lockerId } = locker
  const open = useSignal<Open | null>(null)
  const conflicts = useSignal<Question | null>(null)
  const unreadable = useSignal<readonly string[]>([])
  const downloading = useSignal<number | null>(null)
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
  }, [listing, folder.value, search.value])
  useEffect(() => deletions.watchPage(), [deletions])
  useEffect(() => parts.leave, [parts])

  const { attestation, last_manifest_change_at, restriction } = session.facts.value
  // A locker that the gateway's admin has frozen or taken down accepts no writes.
  const canUpload = !restriction
  // Whether the newest statement covers exactly these files: only the gateway knows.
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

  const openEntry = (entry: Entry) => {
    if (entry.kind === 'folder') {
      search.value = ''
      openFolder(entry.name)
    } else open.value = { what: 'details', entry }
  }

  const ask = (names: readonly string[]) =>
    new Promise<ConflictChoice | null>((resolve) => {
      const answer = (choice: ConflictChoice | null) => {
        conflicts.value = null
        resolve(choice)
      }
      conflicts.value = { names, answer }
    })
  const intake = useMemo(() => createIntake({ client, locker, uploads, deletions, ask }), [parts])

  const upload = async (chosen: Chosen | Promise<Chosen>) => {
    try {
      const taken = await intake.take({ chosen, folder: folder.value, encrypt: encryptNow(lockerId) })
      unreadable.value = taken.unreadable
      if (taken.isNothingLeft) toast(t.conflicts.allSkipped)
    } catch (error) {
      toast(explainFileError(error).title)
    }
  }

  const decide = async (upload: Upload) => {
    try {
      await intake.takeAgain(upload)
    } catch (error) {
      toast(explainFileError(error).title)
    }
  }

  const proceed = async (files: readonly NewUpload[]) => {
    await deletions.release(files.map(({ filename }) => filename))
    uploads.add(files)
  }

  /** One file as it is, or several as an archive. */
  const download = async (entries: readonly Entry[]) => {
    close()
    const [only] = entries
    const options = {
      signal: new AbortController().signal,
      onProgress: (done: number) => {
        downloading.value = done
      },
    }
    downloading.value = 0
    try {
      const outcome =
        only?.kind === 'file' && entries.length === 1
          ? await downloadFile(session, only.file, options)
          : await downloadZip(session, await filesOf(client, locker, entries), folder.value, options)
      toast(t.download[outcome])
    } catch (error) {
      const { title, text } = explainFileError(error)
      toast(`${title}. ${text}`)
    }
    downloading.value = null
  }

  const remove = (entries: readonly Entry[]) => {
    close()
    selection.clear()
    if (entries.length > 0) deletions.remove(entries)
  }

  /** The selected entries as listed now, or as they were selected if they are no longer loaded. */
  const selected = () =>
    [...selection.entries.value.values()].map((entry) => {
      const row = listing.rowOf(entry.name)
      return (row === null ? null : listing.entryAt(row)) ?? entry
    })

  const { state, rows } = listing
  const isEmpty = state.value === 'ready' && rows.value === 0
  return (
    <FileDrop canUpload={canUpload} onFiles={upload}>
      <div class="files stack">
        <Toolbar
          folder={folder.value}
          search={search}
          listing={listing}
          encryption={encryptionKind(lockerId)}
          canUpload={canUpload}
          onFolder={openFolder}
          onFiles={upload}
          onNewFolder={() => {
            open.value = { what: 'folder' }
          }}
          onEncrypt={() => {
            if (encryptionKind(lockerId)) stopEncrypting(lockerId)
            else open.value = { what: 'key', purpose: 'encrypt', afterwards: null }
          }}
        />
        <ShareFolder session={session} folder={folder.value} selection={selection} />
        <UnreadableNote paths={unreadable} />
        <Unfinished
          lockerId={lockerId}
          encrypt={encryptNow(lockerId)}
          isUploading={uploads.isUploading}
          onContinue={proceed}
        />
        <UploadPanel uploads={uploads} onNameTaken={(upload) => void decide(upload)} />
        <DeletionBar deletions={deletions} />
        <SelectionBar
          selection={selection}
          canWrite={canUpload}
          onDownload={() => void download(selected())}
          onMove={() => {
            open.value = { what: 'move', entries: selected() }
          }}
          onDelete={() => remove(selected())}
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
            onDelete={() => remove(selected())}
          />
        )}
        {downloading.value !== null && (
          <p class="downloading" role="status">
            {t.download.running(common.bytes(downloading.value))}
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
          onDelete={() => open.value?.what === 'details' && remove([open.value.entry])}
          onKey={() => {
            open.value = { what: 'key', purpose: 'decrypt', afterwards: open.value }
          }}
          onClose={() => closeIf('details')}
        />
      )}
      {open.value?.what === 'share' && (
        <ShareDialog session={session} path={open.value.entry.name} onClose={() => closeIf('share')} />
      )}
      {open.value?.what === 'rename' && (
        <RenameDialog
          session={session}
          file={open.value.entry.file}
          onRename={deletions.release}
          onRenamed={() => {
            close()
            toast(t.rename.done)
            void parts.changed()
          }}
          onClose={() => closeIf('rename')}
        />
      )}
      {open.value?.what === 'move' && (
        <MoveDialog
          session={session}
          entries={open.value.entries}
          folder={folder.value}
          onMove={deletions.release}
          onMoved={(files) => {
            close()
            selection.clear()
            toast(t.move.done(files))
            void parts.changed()
          }}
          onClose={() => closeIf('move')}
        />
      )}
      {open.value?.what === 'folder' && (
        <NewFolderDialog
          folder={folder.value}
          onFolder={(next) => {
            close()
            search.value = ''
            openFolder(next)
          }}
          onClose={() => closeIf('folder')}
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
      {conflicts.value && <ConflictDialog names={conflicts.value.names} onChoose={conflicts.value.answer} />}
    </FileDrop>
  )

  function switchTo(what: 'share' | 'rename'): void {
    if (open.value && 'entry' in open.value) open.value = { what, entry: open.value.entry }
  }

  /** Closes a dialog unless another one has replaced it. */
  function closeIf(what: Open['what']): void {
    if (open.value?.what === what) close()
  }
}
