import { useSignal } from '@preact/signals'
import type { Signer } from '@svc/sdk/signers'
import { texts as t } from '#texts/key'
import { readKey, UnreadableKey } from '../read-key.ts'
import { Button } from './button.tsx'
import { TextField } from './text-field.tsx'

/** Accepts a key that is pasted, dropped or opened as a file. */
export function KeyForm({ onKey }: { onKey: (signer: Signer, text: string) => void }) {
  const text = useSignal('')
  const problem = useSignal<string | null>(null)
  const use = async (content: string | Promise<string>) => {
    try {
      const key = await content
      onKey(await readKey(key), key)
      text.value = ''
    } catch (error) {
      if (!(error instanceof UnreadableKey)) throw error
      problem.value = error.isEncrypted ? t.encrypted : t.wrong
    }
  }
  const useFile = (file: File | undefined) => {
    if (file) void use(file.slice(0, MAX_KEY_BYTES).text())
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void use(text.value)
      }}
      onDrop={(event) => {
        event.preventDefault()
        useFile(event.dataTransfer?.files[0])
      }}
    >
      <p class="promise">{t.promise}</p>
      <TextField label={t.paste} hint={t.pasteHint} text={text} problem={problem} isSecret />
      <div class="row">
        <Button kind="primary" type="submit">
          {t.use}
        </Button>
        <label class="button">
          {t.file}
          <input
            class="quiet-text"
            type="file"
            onChange={(event) => {
              useFile(event.currentTarget.files?.[0])
              event.currentTarget.value = ''
            }}
          />
        </label>
      </div>
    </form>
  )
}

/** Key files are below a kilobyte; a video opened by mistake is not read. */
const MAX_KEY_BYTES = 65_536
