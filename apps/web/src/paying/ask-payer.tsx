import { useSignal } from '@preact/signals'
import { texts as t } from '#texts/paying'
import { Button } from '../ui/button.tsx'
import { Check } from '../ui/check.tsx'
import { TextField } from '../ui/text-field.tsx'
import { transactionIn } from './pasted-transaction.ts'

interface AskPayerProps {
  onTransaction: (tx: string) => void
  onNothing: () => void
}

/** Asks the payer: only their wallet knows whether it sent the payment. */
export function AskPayer({ onTransaction, onNothing }: AskPayerProps) {
  const isSure = useSignal(false)
  return (
    <div class="stack">
      <p>{t.ask.text}</p>
      <PastedTransaction onTransaction={onTransaction} />
      <hr />
      <Check label={t.ask.sure} checked={isSure} />
      <div class="row">
        <Button disabled={!isSure.value} onClick={onNothing}>
          {t.ask.nothing}
        </Button>
      </div>
    </div>
  )
}

/** A field for a transaction that was made elsewhere, or its address in an explorer. */
export function PastedTransaction({ onTransaction }: Pick<AskPayerProps, 'onTransaction'>) {
  const text = useSignal('')
  const problem = useSignal<string | null>(null)
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        const tx = transactionIn(text.value)
        if (tx) onTransaction(tx)
        else problem.value = t.pasted.wrong
      }}
    >
      <TextField label={t.pasted.tx} hint={t.pasted.hint} text={text} problem={problem} />
      <div class="row">
        <Button kind="primary" type="submit">
          {t.pasted.confirm}
        </Button>
      </div>
    </form>
  )
}
