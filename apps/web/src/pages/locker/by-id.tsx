import { useSignal } from '@preact/signals'
import { texts } from '#texts/locker'
import { recognize } from '../../search/recognize.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { knownReceipts } from './session.ts'

const t = texts.byId

/**
 * The locker of an id, an address or a receipt; null for other text. Remembers receipts for opening. `isNew`: the
 * receipt was just paid for.
 */
export async function lockerIn(text: string, isNew = false): Promise<string | null> {
  const found = recognize(text)
  if (found?.kind === 'locker') return found.value
  if (found?.kind !== 'receipt') return null
  const { lockerId } = await import('@svc/protocol/ids')
  const id = lockerId(found.value)
  if (!knownReceipts.has(id)) knownReceipts.set(id, { receiptId: found.value, isUnopened: isNew })
  return id
}

export function ById({ onLocker }: { onLocker: (id: string) => void }) {
  const text = useSignal('')
  const isWrong = useSignal(false)
  const go = async (event: Event) => {
    event.preventDefault()
    const id = await lockerIn(text.value)
    isWrong.value = id === null
    if (id !== null) onLocker(id)
  }
  return (
    <form class="by-id" onSubmit={(event) => void go(event)}>
      <Field label={t.label} hint={t.hint} error={isWrong.value ? t.wrong : null}>
        {(control) => (
          <input
            {...control}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder="locker_…  rcpt_…"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value
              isWrong.value = false
            }}
          />
        )}
      </Field>
      <Button type="submit">{t.action}</Button>
    </form>
  )
}
