import { useSignal } from '@preact/signals'
import { texts } from '#texts/verify'
import { Card } from '../../ui/card.tsx'
import type { Checking } from './checking.ts'
import { Name } from './shown.tsx'

const t = texts.receipt
/** A receipt has about a kilobyte. */
const MAX_BYTES = 64 * 1024

export function ReceiptCard({ checking }: { checking: Checking }) {
  const problem = useSignal<string | null>(null)
  const receipt = checking.opened.value?.receipt
  const choose = async (event: Event) => {
    const input = event.currentTarget as HTMLInputElement
    const file = input.files?.[0]
    if (!file) return
    const read = file.size > MAX_BYTES ? null : await checking.worker.call('readReceipt', file)
    input.value = ''
    problem.value = read ? null : t.bad(file.name)
    if (read) void checking.addReceipt(read)
  }
  return (
    <Card title={t.title}>
      <div class="stack">
        <p>{receipt ? <Name text={t.given(receipt.receipt_id)} /> : t.text}</p>
        <div class="row no-print">
          <label class="button file-button">
            {t.choose}
            <input
              class="quiet-text"
              type="file"
              accept=".json,application/json"
              onChange={(event) => void choose(event)}
            />
          </label>
        </div>
        {problem.value && (
          <p class="field-error" role="alert">
            <Name text={problem.value} />
          </p>
        )}
      </div>
    </Card>
  )
}
