import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { texts as t } from '#texts/files'
import { type Chosen, chosenByDrop } from './uploads/dropped.ts'

/** Accepts files and folders that are dropped on the list, before the page treats them as bundles. */
export function FileDrop({
  children,
  canUpload,
  onFiles,
}: {
  children: ComponentChildren
  canUpload: boolean
  onFiles: (chosen: Promise<Chosen>) => void
}) {
  const isOver = useSignal(false)
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    event.stopPropagation()
    if (canUpload) isOver.value = true
    // Ignore the drop here and on the page.
    else event.dataTransfer.dropEffect = 'none'
  }
  const leave = (event: DragEvent) => {
    const to = event.relatedTarget
    if (!(to instanceof Node) || !(event.currentTarget as Node).contains(to)) isOver.value = false
  }
  const drop = (event: DragEvent) => {
    isOver.value = false
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    onFiles(chosenByDrop(event.dataTransfer))
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons for files and folders do the same.
    <div
      class={isOver.value ? 'files-drop files-drop-over' : 'files-drop'}
      onDragOver={over}
      onDragLeave={leave}
      onDrop={drop}
    >
      {children}
      {isOver.value && (
        <div class="files-veil" aria-hidden="true">
          <span>{t.upload.drop}</span>
        </div>
      )}
    </div>
  )
}
