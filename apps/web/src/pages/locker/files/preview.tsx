// The preview of a small file, after its hash is checked. Pictures are drawn on a canvas and text stays text: no content
// becomes part of the page.

import { useSignal } from '@preact/signals'
import type { FileEntry } from '@svc/api/file-entries'
import { useEffect, useRef } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { shortFilename } from '../../../ui/filename.tsx'
import { Loading } from '../../../ui/states.tsx'
import type { LockerSession } from '../session.ts'
import { hasOpeningKey, openDownload } from './encryption.ts'
import { explainFileError } from './problems.ts'

const MAX_TEXT_BYTES = 256 * 1024
const MAX_IMAGE_BYTES = 8 * 1024 * 1024
const MAX_SHOWN_CHARACTERS = 20_000
const IMAGE = /\.(png|jpe?g|gif|webp|avif|bmp)$/i
const TEXT = /\.(txt|md|markdown|csv|tsv|json|ya?ml|xml|html?|svg|css|m?[jt]sx?|log|ini|toml|sh|py|rs|go|c|h|sql)$/i

type Preview = { text: string; isCut: boolean } | { image: ImageBitmap } | { problem: string }

/** The kind of preview, if there is one. Encrypted files need the key. */
export function previewKind(
  lockerId: string,
  { filename, size_bytes, content_type }: FileEntry,
): 'image' | 'text' | null {
  const name = hasOpeningKey(lockerId) ? filename.replace(/\.age$/, '') : filename
  const size = size_bytes ?? Number.POSITIVE_INFINITY
  if (IMAGE.test(name)) return size <= MAX_IMAGE_BYTES ? 'image' : null
  const isText = TEXT.test(name) || (/^text\//.test(content_type) && name === filename)
  return isText && size <= MAX_TEXT_BYTES ? 'text' : null
}

export function FilePreview({
  session,
  file,
  kind,
}: {
  session: LockerSession
  file: FileEntry
  kind: 'image' | 'text'
}) {
  const preview = useSignal<Preview | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    read(session, file, kind, controller.signal).then(
      (read) => {
        if (!controller.signal.aborted) preview.value = read
      },
      (error: unknown) => {
        if (!controller.signal.aborted) preview.value = { problem: explainFileError(error).title }
      },
    )
    return () => controller.abort()
  }, [file.filename, file.content_hash])
  const shown = preview.value
  if (shown === null) return <Loading label={common.states.loading} />
  if ('problem' in shown) return <p class="preview-note">{shown.problem}</p>
  if ('image' in shown) return <Picture image={shown.image} label={t.preview.image(shortFilename(file.filename))} />
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="preview-text" tabIndex={0} aria-label={t.preview.text(shortFilename(file.filename))}>
        <pre dir="auto">{shown.text}</pre>
      </section>
      {shown.isCut && <p class="preview-note">{t.preview.cut}</p>}
    </>
  )
}

function Picture({ image, label }: { image: ImageBitmap; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    canvas.current?.getContext('2d')?.drawImage(image, 0, 0)
  }, [image])
  return (
    <canvas
      ref={canvas}
      class="preview-image"
      role="img"
      aria-label={label}
      width={image.width}
      height={image.height}
    />
  )
}

async function read(
  { client, locker }: LockerSession,
  { filename, content_hash }: FileEntry,
  kind: 'image' | 'text',
  signal: AbortSignal,
): Promise<Preview> {
  const found = await client.get(locker, filename, { signal, ...(content_hash && { expectedHash: content_hash }) })
  const { download, isEncrypted } = await openDownload(locker.locker_id, found)
  if (isEncrypted) {
    await download.stream.cancel().catch(() => {})
    return { problem: t.preview.encrypted }
  }
  const bytes = await download.bytes()
  if (kind === 'image') {
    const image = await createImageBitmap(new Blob([bytes as BlobPart])).catch(() => null)
    return image ? { image } : { problem: t.preview.notAnImage }
  }
  const text = new TextDecoder().decode(bytes)
  if (text.includes('\0')) return { problem: t.preview.notText }
  return { text: text.slice(0, MAX_SHOWN_CHARACTERS), isCut: text.length > MAX_SHOWN_CHARACTERS }
}
