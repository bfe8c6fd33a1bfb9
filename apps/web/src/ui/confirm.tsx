import { common } from '#texts/common'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  title: string
  text: string
  /** The subject: a key, a name. */
  detail?: string
  action: string
  onAnswer: (isSure: boolean) => void
}

/** Asks before an action that cannot be undone. */
export function Confirm({ title, text, detail, action, onAnswer }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={() => onAnswer(false)}>
      <div class="stack">
        {detail && <code>{detail}</code>}
        <p class="soft">{text}</p>
        <div class="row">
          <Button kind="primary" onClick={() => onAnswer(true)}>
            {action}
          </Button>
          <Button onClick={() => onAnswer(false)}>{common.states.cancel}</Button>
        </div>
      </div>
    </Dialog>
  )
}
