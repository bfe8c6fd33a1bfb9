// The dialog for the encryption key, with the same kinds of keys as the command line.

import { useSignal } from '@preact/signals'
import { texts as t } from '#texts/files'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import type { LockerSession } from '../session.ts'
import { type KeyKind, type KeyPurpose, setKey, UnusableKey } from './encryption.ts'

interface KeyDialogProps {
  session: LockerSession
  purpose: KeyPurpose
  onClose: () => void
}

export function KeyDialog({ session, purpose, onClose }: KeyDialogProps) {
  const isNew = purpose === 'encrypt'
  const kind = useSignal<KeyKind>('passphrase')
  const secret = useSignal('')
  const again = useSignal('')
  const recipients = useSignal('')
  const error = useSignal<UnusableKey['reason'] | null>(null)
  const isBusy = useSignal(false)
  const kinds: KeyKind[] =
    session.kind === 'browser' ? ['passphrase', 'identity'] : ['wallet', 'passphrase', 'identity']
  const use = async () => {
    isBusy.value = true
    error.value = null
    try {
      if (kind.value === 'passphrase' && isNew && again.value !== secret.value) throw new UnusableKey('differ')
      const input = { kind: kind.value, secret: secret.value, recipients: isNew ? recipients.value : '' }
      await setKey(session, purpose, input)
      onClose()
    } catch (failure) {
      if (!(failure instanceof UnusableKey)) throw failure
      error.value = failure.reason
    } finally {
      isBusy.value = false
    }
  }
  const ofSecret =
    error.value && error.value !== 'recipient' && error.value !== 'differ' ? t.key.errors[error.value] : null
  return (
    <Dialog title={t.key.title[purpose]} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void use()
        }}
      >
        <p>{t.key.text[purpose]}</p>
        <fieldset class="key-kinds">
          <legend class="quiet-text">{t.key.kind}</legend>
          {kinds.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="key-kind"
                checked={kind.value === one}
                onChange={() => {
                  kind.value = one
                  secret.value = ''
                  error.value = null
                }}
              />
              {t.key.kinds[one]}
            </label>
          ))}
        </fieldset>
        {kind.value === 'passphrase' && (
          <>
            <Field label={t.key.passphrase} error={ofSecret}>
              {(control) => (
                <input
                  {...control}
                  type="password"
                  autocomplete="off"
                  value={secret.value}
                  onInput={(event) => {
                    secret.value = event.currentTarget.value
                  }}
                />
              )}
            </Field>
            {isNew && (
              <Field label={t.key.again} error={error.value === 'differ' ? t.key.errors.differ : null}>
                {(control) => (
                  <input
                    {...control}
                    type="password"
                    autocomplete="off"
                    value={again.value}
                    onInput={(event) => {
                      again.value = event.currentTarget.value
                    }}
                  />
                )}
              </Field>
            )}
          </>
        )}
        {kind.value === 'identity' && (
          <Field label={t.key.identity} hint={t.key.identityHint} error={ofSecret}>
            {(control) => (
              <textarea
                {...control}
                rows={3}
                spellcheck={false}
                value={secret.value}
                onInput={(event) => {
                  secret.value = event.currentTarget.value
                }}
              />
            )}
          </Field>
        )}
        {kind.value === 'wallet' && (
          <p class={ofSecret ? 'field-error' : 'field-hint'}>{ofSecret ?? t.key.walletHint}</p>
        )}
        {kind.value !== 'passphrase' && isNew && (
          <Field
            label={t.key.recipients}
            hint={t.key.recipientsHint}
            error={error.value === 'recipient' ? t.key.errors.recipient : null}
          >
            {(control) => (
              <textarea
                {...control}
                rows={2}
                spellcheck={false}
                value={recipients.value}
                onInput={(event) => {
                  recipients.value = event.currentTarget.value
                }}
              />
            )}
          </Field>
        )}
        {isNew && <p class="note note-warn">{t.key.warning}</p>}
        <div class="row">
          <Button kind="primary" type="submit" busy={isBusy.value}>
            {t.key.use[purpose]}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
