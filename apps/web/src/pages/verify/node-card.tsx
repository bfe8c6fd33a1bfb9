import { useSignal } from '@preact/signals'
import { texts } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { webAddress } from './addresses.ts'
import type { Checking } from './checking.ts'
import { StepCard } from './step.tsx'
import type { CheckedBundle } from './worker/messages.ts'

const t = texts.node

export function NodeCard({ checking, bundle }: { checking: Checking; bundle: CheckedBundle }) {
  const address = useSignal('')
  const problem = useSignal<string | null>(null)
  const { node, activity } = checking
  const submit = (event: Event) => {
    event.preventDefault()
    const url = webAddress(address.value)
    problem.value = url ? null : t.invalid
    if (url) void checking.ask(url.href)
  }
  return (
    <StepCard id="node" title={t.title} facts={['anchor_tx_succeeded', 'anchor_payload_matches']} bundle={bundle}>
      <form class="stack" noValidate onSubmit={submit}>
        <p>{t.text}</p>
        {bundle.anchor ? (
          <>
            <Field label={t.label} hint={t.private} error={problem.value}>
              {(control) => (
                <input
                  {...control}
                  type="url"
                  autocomplete="off"
                  spellcheck={false}
                  placeholder={t.placeholder}
                  value={address.value}
                  onInput={(event) => {
                    address.value = event.currentTarget.value
                  }}
                />
              )}
            </Field>
            <div class="row">
              <Button type="submit" disabled={address.value.trim() === ''} busy={activity.value?.doing === 'asking'}>
                {t.ask}
              </Button>
              {node.value !== null && <span class="part-note">{t.asked(new URL(node.value).host)}</span>}
            </div>
          </>
        ) : (
          <p class="part-empty">{t.noAnchor}</p>
        )}
      </form>
    </StepCard>
  )
}
