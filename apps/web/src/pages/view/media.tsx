import { useSignal } from '@preact/signals'
import { texts as t } from '#texts/view'
import { plainFilename } from '../../ui/filename.tsx'
import { Empty } from '../../ui/states.tsx'
import type { OpenedFile } from './source.ts'

/** A player; the browser reads only the parts that it plays. */
export function Media({ file, kind: Player }: { file: OpenedFile; kind: 'audio' | 'video' }) {
  const hasFailed = useSignal(false)
  if (hasFailed.value) return <Empty title={t.media.failed.title} text={t.media.failed.text} />
  return (
    <Player
      class="view-media"
      src={file.url}
      controls
      preload="metadata"
      aria-label={t.media.label(plainFilename(file.filename))}
      onError={() => {
        hasFailed.value = true
      }}
    />
  )
}
