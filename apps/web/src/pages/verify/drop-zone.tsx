import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

interface DropZoneProps {
  label: string
  onDrop(transfer: DataTransfer): void
  children: ComponentChildren
}

/** A zone to drop files; its content offers the same with a button. */
export function DropZone({ label, onDrop, children }: DropZoneProps) {
  const isOver = useSignal(false)
  const over = (event: DragEvent) => {
    event.preventDefault()
    isOver.value = true
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    isOver.value = false
    if (event.dataTransfer) onDrop(event.dataTransfer)
  }
  return (
    <fieldset
      class={`drop-zone${isOver.value ? ' drop-zone-over' : ''}`}
      aria-label={label}
      onDragOver={over}
      onDragLeave={() => {
        isOver.value = false
      }}
      onDrop={drop}
    >
      {children}
    </fieldset>
  )
}
