import { common } from '#texts/common'
import { texts } from '#texts/sharing'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'

const t = texts.access.all

interface EndAllProps {
  /** Whether only an upload should end, which ends with everything else. */
  isForUpload: boolean
  onAnswer: (isSure: boolean) => void
}

/** Asks before everything ends: what ends, and what the owner might expect to end but stays. */
export function EndAllDialog({ isForUpload, onAnswer }: EndAllProps) {
  return (
    <Dialog title={t.title} onClose={() => onAnswer(false)}>
      <div class="stack">
        {isForUpload && <p class="note note-warn">{t.session}</p>}
        <Part title={t.ends} items={t.endsList} />
        <Part title={t.stays} items={t.staysList} />
        <div class="row">
          <Button kind="primary" onClick={() => onAnswer(true)}>
            {t.action}
          </Button>
          <Button onClick={() => onAnswer(false)}>{common.states.cancel}</Button>
        </div>
      </div>
    </Dialog>
  )
}

function Part({ title, items }: { title: string; items: readonly string[] }) {
  return (
    <div>
      <h3>{title}</h3>
      <ul class="access-list">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </div>
  )
}
