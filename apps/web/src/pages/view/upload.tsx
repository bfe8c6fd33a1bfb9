// The other files of an upload. Its link opens no other files of the locker.

import { useSignal } from '@preact/signals'
import type { UploadSessionStatus } from '@svc/api/upload-sessions'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/view'
import { urlOf } from '../../address.ts'
import { requestJson } from '../../gateway.ts'
import { Card } from '../../ui/card.tsx'
import { Filename, plainFilename } from '../../ui/filename.tsx'
import { encodedName, publicFileUrl } from './source.ts'

const t = texts.upload

/** Whether an id is an upload id, by its prefix. */
export function isUploadId(id: string): boolean {
  return id.startsWith('us_')
}

export function Upload({ id, filename }: { id: string; filename: string }) {
  const upload = useSignal<UploadSessionStatus | 'loading' | 'failed'>('loading')
  useEffect(() => {
    const controller = new AbortController()
    readUpload(id, controller.signal).then(
      (status) => {
        upload.value = status
      },
      () => {
        if (!controller.signal.aborted) upload.value = 'failed'
      },
    )
    return () => controller.abort()
  }, [])
  const { value } = upload
  return (
    <Card title={t.title}>
      <div class="stack" aria-live="polite">
        {typeof value === 'string' ? (
          <p>{t[value]}</p>
        ) : (
          <>
            <ul class="view-upload">
              {value.files.map((file) => (
                <UploadedFile key={file.file_id} id={id} file={file} isShown={file.filename === filename} />
              ))}
            </ul>
            <p class="field-hint">{t.until(texts.moment(new Date(value.expires_at)))}</p>
          </>
        )}
      </div>
    </Card>
  )
}

interface UploadedFileProps {
  id: string
  file: UploadSessionStatus['files'][number]
  isShown: boolean
}

function UploadedFile({ id, file: { filename, state, received_bytes }, isShown }: UploadedFileProps) {
  if (state !== 'stored')
    return (
      <li>
        <Filename name={filename} />
        <div class="field-hint">{t.missing[state]}</div>
      </li>
    )
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  return (
    <li>
      <a href={urlOf(`/view/${id}/${encodedName(filename)}`)} {...(isShown && { 'aria-current': 'page' })}>
        <Filename name={filename} />
      </a>
      <div class="field-hint">
        {common.bytes(received_bytes)} ·{' '}
        <a href={publicFileUrl(id, filename)} download={name} aria-label={t.download(plainFilename(filename))}>
          {texts.download}
        </a>
      </div>
    </li>
  )
}

/** Reads the session. The second half of the id is a secret for reading; it cannot upload. */
function readUpload(id: string, signal: AbortSignal): Promise<UploadSessionStatus> {
  const [session = '', token = ''] = id.split('.')
  const headers = { 'x-upload-token': token }
  return requestJson(`/v1/upload-sessions/${encodeURIComponent(session)}`, { signal, headers })
}
