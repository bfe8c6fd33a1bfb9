// Opens a locker that was paid for.

import { useSignal } from '@preact/signals'
import { nameObjection } from '@svc/sdk/locker-names'
import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { ById } from './by-id.tsx'
import { RememberChoice } from './choose-mode.tsx'
import { type Identity, type LockerSession, openPaidLocker } from './session.ts'

const t = texts.provision

interface ProvisionProps {
  by: Identity
  receiptId: string
  onSession: (session: LockerSession) => void
}

export function ProvisionCard({ by, receiptId, onSession }: ProvisionProps) {
  const name = useSignal('')
  const withBrowserKey = useSignal(by.kind === 'wallet')
  const isRemembered = useSignal(true)
  const { isBusy, problem, run } = useAction()
  const given = name.value.trim()
  const isRefused = given !== '' && nameObjection(given) !== null
  const open = (event: Event) => {
    event.preventDefault()
    if (isRefused) return
    const opening = { name: name.value, withBrowserKey: withBrowserKey.value, isRemembered: isRemembered.value }
    void run(async () => onSession(await openPaidLocker(by, receiptId, opening)))
  }
  return (
    <Card title={t.title}>
      <form class="stack" onSubmit={open}>
        <p class="soft">{t.text}</p>
        <Field label={t.name} hint={t.nameHint} error={isRefused ? t.notAllowed : null}>
          {(control) => (
            <input
              {...control}
              autocomplete="off"
              placeholder={t.namePlaceholder}
              value={name.value}
              onInput={(event) => {
                name.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
        {by.kind === 'wallet' && (
          <>
            <label class="check">
              <input
                type="checkbox"
                checked={withBrowserKey.value}
                onChange={(event) => {
                  withBrowserKey.value = event.currentTarget.checked
                }}
              />
              <span>{t.withBrowser}</span>
            </label>
            {withBrowserKey.value && (
              <RememberChoice
                isRemembered={isRemembered.value}
                onChange={(isChecked) => (isRemembered.value = isChecked)}
              />
            )}
            <p class="signatures">{t.cost(withBrowserKey.value ? 1 : 2)}</p>
          </>
        )}
        <div class="row">
          <Button kind="primary" type="submit" busy={isBusy}>
            {isBusy && by.kind === 'wallet' ? texts.opening.waiting : t.action}
          </Button>
        </div>
        {problem && <ProblemNote problem={problem} />}
      </form>
    </Card>
  )
}

/** Shown for an id without an open locker. */
export function NotOpen({ onLocker }: { onLocker: (id: string) => void }) {
  return (
    <Card title={t.notOpen}>
      <div class="stack">
        <p class="soft">{t.notOpenText}</p>
        <ById onLocker={onLocker} />
      </div>
    </Card>
  )
}
