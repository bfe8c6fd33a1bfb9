import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { texts } from '#texts/search'
import { lookUpFile } from './search.ts'

/** Accepts a bundle that is dropped anywhere on the page; the verify page then checks it. */
export function DropTarget({ children }: { children: ComponentChildren }) {
  const isOver = useSignal(false)
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    // A page with its own drop zones shows those instead.
    isOver.value = !document.querySelector('.drop-zone')
  }
  const leave = (event: DragEvent) => {
    if (event.relatedTarget === null) isOver.value = false
  }
  const drop = (event: DragEvent) => {
    isOver.value = false
    const file = event.dataTransfer?.files[0]
    // A drop zone of the page has handled the file.
    if (!file || event.defaultPrevented) return
    event.preventDefault()
    void lookUpFile(file)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button “Choose a bundle” does the same.
    <div onDragOver={over} onDragLeave={leave} onDrop={drop}>
      {children}
      {isOver.value && (
        <div class="drop-veil" aria-hidden="true">
          <span>{texts.drop}</span>
        </div>
      )}
    </div>
  )
}
