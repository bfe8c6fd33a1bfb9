// Shows a file of a public link or of an upload. The file is untrusted: it enters this document only
// as text, pictures, sound and drawn pages.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/view'
import { publicUrl } from '../../gateway.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Filename, plainFilename } from '../../ui/filename.tsx'
import { Loading } from '../../ui/states.tsx'
import { About } from './about.tsx'
import { Content } from './content.tsx'
import { Problem } from './problem.tsx'
import { Proof } from './proof.tsx'
import { encodedName, hashBytes, type OpenedFile, openFile, publicFileUrl, type ReadFailed } from './source.ts'
import { isUploadId, Upload } from './upload.tsx'
import './view.css'

export default function View({ params }: { params: Readonly<Record<string, string>> }) {
  const { receipt_id: id = '', filename = '' } = params
  return <FilePage key={`${id}/${filename}`} id={id} filename={filename} />
}

type Opening = { state: 'loading' } | { state: 'ready'; file: OpenedFile } | { state: 'failed'; error: ReadFailed }

function FilePage({ id, filename }: { id: string; filename: string }) {
  const opening = useSignal<Opening>({ state: 'loading' })
  const running = useSignal(new AbortController())
  const hash = useSignal<string | null>(null)
  const open = () => {
    running.value.abort()
    const mine = new AbortController()
    running.value = mine
    hash.value = null
    opening.value = { state: 'loading' }
    openFile(publicFileUrl(id, filename), filename, mine.signal).then(
      (file) => {
        opening.value = { state: 'ready', file }
      },
      (error: ReadFailed) => {
        if (!mine.signal.aborted) opening.value = { state: 'failed', error }
      },
    )
  }
  useEffect(() => {
    document.title = `${t.title(plainFilename(filename))} · ${frame.name}`
    open()
    return () => running.value.abort()
  }, [])
  const { value } = opening
  return (
    <div class="wide view">
      <Head id={id} filename={filename} file={value.state === 'ready' ? value.file : null} />
      {value.state === 'loading' && <Loading label={t.loading} />}
      {value.state === 'failed' && <Problem error={value.error} retry={open} />}
      {value.state === 'failed' && value.error.kind !== 'link' && isUploadId(id) && (
        <Upload id={id} filename={filename} />
      )}
      {value.state === 'ready' && <Shown id={id} file={value.file} hash={hash} reopen={open} />}
    </div>
  )
}

function Head({ id, filename, file }: { id: string; filename: string; file: OpenedFile | null }) {
  const slash = filename.lastIndexOf('/') + 1
  return (
    <div class="view-head">
      <div class="view-name">
        {slash > 0 && (
          <p class="view-folder">
            <Filename name={filename.slice(0, slash)} />
          </p>
        )}
        <h1>
          <Filename name={filename.slice(slash)} />
        </h1>
      </div>
      {file && (
        <div class="row view-actions">
          <CopyButton
            text={`${publicUrl()}/view/${encodeURIComponent(id)}/${encodedName(filename)}`}
            what={t.copyLink}
            label={t.copyLabel}
          />
          <a class="button button-primary" href={file.url} download={filename.slice(slash)}>
            {t.download}
          </a>
        </div>
      )}
    </div>
  )
}

interface ShownProps {
  id: string
  file: OpenedFile
  /** The hash of the bytes, once all are read. */
  hash: Signal<string | null>
  reopen: () => void
}

function Shown({ id, file, hash, reopen }: ShownProps) {
  useEffect(() => {
    if (file.head.length !== file.size) return
    void hashBytes(file.head).then((computed) => {
      hash.value = computed
    })
  }, [file])
  return (
    <div class="view-parts">
      <div class="view-content">
        <Content file={file} reopen={reopen} onHash={(computed) => (hash.value = computed)} />
      </div>
      <div class="stack">
        {isUploadId(id) && <Upload id={id} filename={file.filename} />}
        <About file={file} hash={hash} />
        {!isUploadId(id) && <Proof id={id} file={file} hash={hash} />}
      </div>
    </div>
  )
}
