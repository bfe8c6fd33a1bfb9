import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { texts as t } from '#texts/view'
import { Button } from '../../ui/button.tsx'
import { plainFilename } from '../../ui/filename.tsx'
import { Empty } from '../../ui/states.tsx'
import { type ContentProps, Whole } from './buffered-file.tsx'

const MAX_BYTES = 64 * 1024 * 1024

/** Shows bitmap pictures only, detected by their first bytes: they contain no code. */
export function Picture(props: ContentProps & { type: string }) {
  const { file, type } = props
  if (file.size > MAX_BYTES) return <Empty title={t.tooLarge.title} text={t.tooLarge.text(file.size)} />
  const alt = t.image.alt(plainFilename(file.filename))
  return <Whole {...props}>{(bytes) => <Bitmap bytes={bytes} type={type} alt={alt} />}</Whole>
}

function Bitmap({ bytes, type, alt }: { bytes: Uint8Array; type: string; alt: string }) {
  const url = useMemo(() => URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type })), [bytes])
  const hasFailed = useSignal(false)
  const isActual = useSignal(false)
  const isScaled = useSignal(false)
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  if (hasFailed.value) return <Empty title={t.image.failed.title} text={t.image.failed.text} />
  return (
    <div class="stack">
      {isScaled.value && (
        <div class="row view-tools">
          <Button
            onClick={() => {
              isActual.value = !isActual.value
            }}
          >
            {isActual.value ? t.image.fit : t.image.actual}
          </Button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class={isActual.value ? 'view-frame view-actual' : 'view-frame'} tabIndex={0} aria-label={alt}>
        <img
          class="view-image"
          src={url}
          alt={alt}
          onError={() => {
            hasFailed.value = true
          }}
          onLoad={({ currentTarget }) => {
            isScaled.value = currentTarget.naturalWidth > currentTarget.clientWidth
          }}
        />
      </section>
    </div>
  )
}
