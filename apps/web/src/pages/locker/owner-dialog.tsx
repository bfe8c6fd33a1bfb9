import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/locker'
import { Dialog } from '../../ui/dialog.tsx'
import { ownerRequest } from './session.ts'
import { UnlockForm } from './unlock.tsx'

const t = texts.owner

/** Asks for the owner's wallet or key, while an action waits for it. */
export function OwnerDialog() {
  const { value } = ownerRequest
  const wrong = useSignal<string | null>(null)
  // Reject the waiting action when the page is closed.
  useEffect(() => () => ownerRequest.value?.answer(null), [])
  if (!value) return null
  const close = () => {
    wrong.value = null
    value.answer(null)
  }
  return (
    <Dialog title={t.title} onClose={close}>
      <div class="stack">
        <p class="soft">{t.text(value.owner)}</p>
        {wrong.value && (
          <p class="note note-bad" role="alert">
            {t.other(wrong.value)}
          </p>
        )}
        <UnlockForm
          namespace={value.owner.startsWith('0x') ? 'eip155' : 'solana'}
          onIdentity={(found) => {
            wrong.value = found.address === value.owner ? null : found.address
            if (!wrong.value) value.answer(found)
          }}
        />
      </div>
    </Dialog>
  )
}
