import { useSignal } from '@preact/signals'
import type { Signer } from '@svc/sdk/signers'
import { texts } from '#texts/api'
import { Button } from '../../ui/button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { KeyForm } from '../../ui/key-form.tsx'
import { freshKey, signer } from './key.ts'

const t = texts.key

/** Shows the signing key and lets the visitor choose another. */
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
  const use = (key: Signer) => {
    signer.value = key
    onClose()
  }
  return (
    <Dialog title={t.title} onClose={onClose}>
      <div class="stack">
        <KeyForm onKey={use} />
        <hr />
        <p>{t.freshText}</p>
        <div class="row">
          <Button onClick={() => void freshKey().then(use)}>{t.fresh}</Button>
        </div>
      </div>
    </Dialog>
  )
}
