// Uploads that a reload or a closed page has interrupted. They continue from the bytes that the gateway has, after the
// browser returns the same files, if it can, or the user chooses them again.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { Button } from '../../../../ui/button.tsx'
import { Filename } from '../../../../ui/filename.tsx'
import { continuedUploads, isSame, type RechosenFile } from './continued.ts'
import { type ChosenFile, chosenByPicker } from './dropped.ts'
import { dropRecords, interruptedUploads, type UploadRecord } from './records.ts'
import type { Encrypt, NewUpload } from './upload-list.ts'

interface InterruptedUploadsProps {
  lockerId: string
  /** Null without encryption. */
  encrypt: Encrypt | null
  /** Whether a file of this name is being uploaded now. */
  isUploading: (filename: string) => boolean
  onContinue: (files: readonly NewUpload[]) => void
}

/** Not every browser has it, and TypeScript does not know it yet. */
interface Permitted {
  requestPermission(options: { mode: 'read' }): Promise<PermissionState>
}

const SHOWN = 10

export function Unfinished({ lockerId, encrypt, isUploading, onContinue }: InterruptedUploadsProps) {
  const records = useSignal<UploadRecord[]>([])
  const note = useSignal('')
  const load = async () => {
    records.value = (await interruptedUploads(lockerId)).filter(({ filename }) => !isUploading(filename))
  }
  useEffect(() => void load(), [lockerId])
  if (records.value.length === 0) return null

  const needsKey = records.value.some(({ isEncrypted }) => isEncrypted) && !encrypt
  const withHandles = records.value.filter(({ handle }) => handle !== null)

  /** Uses the key at the time of the click: it may be removed while the browser asks for the files. */
  const proceed = (found: readonly RechosenFile[]) => {
    const { files, changed } = continuedUploads(found, encrypt)
    note.value = changed > 0 ? t.unfinished.changed(changed) : found.length === 0 ? t.unfinished.noMatch : ''
    onContinue(files)
    const taken = new Set(files.map(({ filename }) => filename))
    records.value = records.value.filter(({ filename }) => !taken.has(filename))
  }

  const fromBrowser = async () => {
    const found: RechosenFile[] = []
    for (const record of withHandles) {
      const handle = record.handle as FileSystemFileHandle & Permitted // those without are filtered out
      const isAllowed = (await handle.requestPermission({ mode: 'read' }).catch(() => 'denied')) === 'granted'
      const file = isAllowed ? await handle.getFile().catch(() => null) : null
      if (file) found.push({ record, file, handle })
    }
    proceed(found)
  }

  const fromPicker = (chosen: readonly ChosenFile[]) => proceed(matched(records.value, chosen))

  const forget = async () => {
    await dropRecords(
      lockerId,
      records.value.map(({ filename }) => filename),
    )
    records.value = []
  }

  return (
    <section class="card unfinished" aria-label={t.unfinished.title}>
      <div class="card-head">
        <h2>{t.unfinished.title}</h2>
      </div>
      <p>{t.unfinished.text}</p>
      <ul>
        {records.value.slice(0, SHOWN).map(({ filename, size }) => (
          <li key={filename}>
            <Filename name={filename} /> <span class="upload-state">{common.bytes(size)}</span>
          </li>
        ))}
      </ul>
      {records.value.length > SHOWN && <p>{t.uploads.more(records.value.length - SHOWN)}</p>}
      {needsKey && <p class="note">{t.unfinished.needsKey}</p>}
      {note.value && (
        <p class="note note-bad" role="alert">
          {note.value}
        </p>
      )}
      <div class="row">
        {withHandles.length > 0 && (
          <Button kind="primary" disabled={needsKey} onClick={() => void fromBrowser()}>
            {t.unfinished.continue}
          </Button>
        )}
        <label class={`button button-plain${needsKey ? ' button-off' : ''}`}>
          {t.unfinished.choose}
          <input
            class="quiet-text"
            type="file"
            multiple
            disabled={needsKey}
            onChange={({ currentTarget }) => {
              const { files } = currentTarget
              if (files) fromPicker(chosenByPicker(files).files)
              currentTarget.value = ''
            }}
          />
        </label>
        <Button onClick={() => void forget()}>{t.unfinished.forget}</Button>
      </div>
    </section>
  )
}

/** Matches records and chosen files by the end of the path, independent of the chosen folder. */
function matched(records: readonly UploadRecord[], chosen: readonly ChosenFile[]): RechosenFile[] {
  return chosen.flatMap(({ path, file, handle }) => {
    const isNamed = ({ filename, isEncrypted }: UploadRecord) => {
      const plain = isEncrypted ? filename.replace(/\.age$/, '') : filename
      return plain === path || plain.endsWith(`/${path}`)
    }
    const candidates = records.filter(isNamed)
    const record = candidates.find((one) => isSame(one, file)) ?? candidates[0]
    return record ? [{ record, file, handle }] : []
  })
}
