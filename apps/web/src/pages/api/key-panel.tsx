import { useSignal } from '@preact/signals'
import type { Signer } from '@svc/sdk/signers'
import { texts } from '#texts/api'
import { Button } from '../../ui/button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons.tsx'
import { freshKey, readKey, signer, UnreadableKey } from './key.ts'

const t = texts.key

/** Which key signs, and how to choose another. */
export function KeyPanel() {
  const isChoosing = useSignal(false)
  const { value } = signer
  const choose = () => {
    isChoosing.value = true
  }
  return (
    <div class="key-panel">
      {value ? (
        <p>
          {t.signsAs} <Copyable text={value.address} what={t.signsAs} />
        </p>
      ) : (
        <p>{t.none}</p>
      )}
      <div class="row">
        <Button onClick={choose}>
          <Icon name="key" />
          {value ? t.change : t.choose}
        </Button>
        {value && (
          <Button
            kind="quiet"
            onClick={() => {
              signer.value = null
            }}
          >
            {t.forget}
          </Button>
        )}
      </div>
      {isChoosing.value && (
        <KeyDialog
          onClose={() => {
            isChoosing.value = false
          }}
        />
      )}
    </div>
  )
}

function KeyDialog({ onClose }: { onClose: () => void }) {
  const text = useSignal('')
  const problem = useSignal<string | null>(null)
  const use = async (key: Promise<Signer>) => {
    try {
      signer.value = await key
      onClose()
    } catch (error) {
      if (!(error instanceof UnreadableKey)) throw error
      problem.value = error.isEncrypted ? t.encrypted : t.wrong
    }
  }
  const useFile = (file: File | undefined) => {
    if (file) void use(file.text().then(readKey))
  }
  return (
    <Dialog title={t.title} onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button beside opens a file by keyboard. */}
      <div
        class="stack"
        onDrop={(event) => {
          event.preventDefault()
          useFile(event.dataTransfer?.files[0])
        }}
      >
        <p class="promise">{t.promise}</p>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void use(readKey(text.value))
          }}
        >
          <Field label={t.paste} hint={t.pasteHint} error={problem.value}>
            {(control) => (
              <input
                {...control}
                type="password"
                autocomplete="off"
                spellcheck={false}
                value={text.value}
                onInput={(event) => {
                  text.value = event.currentTarget.value
                  problem.value = null
                }}
              />
            )}
          </Field>
          <div class="row">
            <Button kind="primary" type="submit">
              {t.use}
            </Button>
            <label class="button">
              {t.file}
              <input class="quiet-text" type="file" onChange={(event) => useFile(event.currentTarget.files?.[0])} />
            </label>
          </div>
        </form>
        <hr />
        <p>{t.freshText}</p>
        <div class="row">
          <Button onClick={() => void use(freshKey())}>{t.fresh}</Button>
        </div>
      </div>
    </Dialog>
  )
}
