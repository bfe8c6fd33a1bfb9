import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { common } from '#texts/common'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'

/** A dialog that is open while it is rendered. The browser keeps the focus inside; Escape closes it. */
export function Dialog({
  title,
  children,
  onClose,
}: {
  title: string
  children: ComponentChildren
  onClose: () => void
}) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" label={common.states.close} onClick={() => element.current?.close()}>
          <Icon name="close" />
        </Button>
      </div>
      {children}
    </dialog>
  )
}
