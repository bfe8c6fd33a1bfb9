import { useSignal } from '@preact/signals'
import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'

const t = texts.mode

interface ChooseModeProps {
  /** Whether the wallet is an operator, not the owner. */
  isOperator: boolean
  onOnce: (isRemembered: boolean) => void
  onEach: () => void
  onOther: () => void
}

/** The choice between one signature for a key of this browser, and a signature for each request. */
export function ChooseMode({ isOperator, onOnce, onEach, onOther }: ChooseModeProps) {
  const isRemembered = useSignal(true)
  return (
    <Card title={t.title}>
      <div class="modes">
        {isOperator ? (
          <p class="note note-warn" role="status">
            {t.notOwner}
          </p>
        ) : (
          <section class="mode" aria-label={t.once}>
            <h3>{t.once}</h3>
            <p>{t.onceText}</p>
            <RememberChoice
              isRemembered={isRemembered.value}
              onChange={(isChecked) => (isRemembered.value = isChecked)}
            />
            <p class="signatures">{t.onceCount}</p>
            <Button kind="primary" onClick={() => onOnce(isRemembered.value)}>
              {t.onceAction}
            </Button>
          </section>
        )}
        <section class="mode" aria-label={t.each}>
          <h3>{t.each}</h3>
          <p>{t.eachText}</p>
          <p class="signatures">{t.eachCount}</p>
          <Button onClick={onEach}>{t.eachAction}</Button>
        </section>
      </div>
      <div class="row">
        <Button kind="quiet" onClick={onOther}>
          {texts.opening.other}
        </Button>
      </div>
    </Card>
  )
}

export function RememberChoice({
  isRemembered,
  onChange,
}: {
  isRemembered: boolean
  onChange: (isRemembered: boolean) => void
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={isRemembered} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {t.keep}
        <span class="field-hint">{t.keepHint}</span>
      </span>
    </label>
  )
}
