import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { texts } from '#texts/search'
import { lookUpFile } from './search.ts'

/** The whole page takes a dropped bundle, which the verify page then checks. */
export function DropTarget({ children }: { children: ComponentChildren }) {
  const isOver = useSignal(false)
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    // A page with places of its own for files shows those.
    isOver.value = !document.querySelector('.drop-zone')
  }
  const leave = (event: DragEvent) => {
    if (event.relatedTarget === null) isOver.value = false
  }
  const drop = (event: DragEvent) => {
    isOver.value = false
    const file = event.dataTransfer?.files[0]
    // A part of the page that takes files itself has handled it.
    if (!file || event.defaultPrevented) return
    event.preventDefault()
    void lookUpFile(file)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the same can be done with the button “Choose a bundle”.
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
