import { useSignal } from '@preact/signals'
import { texts } from '#texts/admin'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons.tsx'
import { readToken, refusal, signIn, UnsendableToken } from './identity.ts'

const t = texts.signIn
/** A larger file is not a token. */
const MAX_FILE_BYTES = 64 * 1024

export function SignIn({ mayGoWithout }: { mayGoWithout: boolean }) {
  const text = useSignal('')
  const isRemembered = useSignal(false)
  const problem = useSignal<string | null>(null)
  const use = (token: string) => {
    try {
      signIn(readToken(token), isRemembered.value)
    } catch (error) {
      if (!(error instanceof UnsendableToken)) throw error
      problem.value = t.wrong
    }
  }
  const useFile = async (file: File | undefined) => {
    if (!file) return
    if (file.size > MAX_FILE_BYTES) problem.value = t.wrong
    else use(await file.text())
  }
  const { value: refused } = refusal
  return (
    <div class="wide sign-in">
      <form
        class="card stack"
        aria-labelledby="sign-in-title"
        onSubmit={(event) => {
          event.preventDefault()
          use(text.value)
        }}
      >
        <h1 id="sign-in-title">{t.title}</h1>
        <p class="about">{t.lead}</p>
        {refused && (
          <div class="notice notice-bad" role="alert">
            <b>{refused.status === 401 ? t.refused : t.failed}</b>
            <span>{refused.status === 401 ? t.refusedText : refused.message}</span>
          </div>
        )}
        <Field label={t.token} hint={t.tokenHint} error={problem.value}>
          {(control) => (
            <input
              {...control}
              type="password"
              autocomplete="off"
              spellcheck={false}
              required
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value
                problem.value = null
              }}
            />
          )}
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={isRemembered.value}
            onChange={(event) => {
              isRemembered.value = event.currentTarget.checked
            }}
          />
          <span>
            {t.keep}
            <small>{t.keepHint}</small>
          </span>
        </label>
        <div class="row">
          <Button kind="primary" type="submit">
            <Icon name="key" />
            {t.use}
          </Button>
          <label class="button">
            {t.file}
            <input class="quiet-text" type="file" onChange={(event) => void useFile(event.currentTarget.files?.[0])} />
          </label>
        </div>
        {mayGoWithout && (
          <p class="faint">
            {t.withoutText}{' '}
            <button type="button" class="link" onClick={() => signIn(null, false)}>
              {t.without}
            </button>
          </p>
        )}
      </form>
    </div>
  )
}
