import { useSignal } from '@preact/signals'
import { texts } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import type { Checking } from './checking.ts'

const t = texts.keys

const MAX_SIGNERS = 100
const NO_PROBLEM = { signers: null, tag: null, policy: null }

/** As `--signer`, `--domain-tag` and `--policy` of the command line. */
export function MorePins({ checking }: { checking: Checking }) {
  const signers = useSignal('')
  const tag = useSignal('')
  const policy = useSignal('')
  const problem = useSignal<Record<'signers' | 'tag' | 'policy', string | null>>(NO_PROBLEM)
  const submit = async (event: Event) => {
    event.preventDefault()
    const words = signers.value.split(/[\s,]+/).filter((word) => word !== '')
    const bad = words.slice(0, MAX_SIGNERS).find((word) => !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(word))
    const isTag = tag.value === '' || /^[ -~]{25}$/.test(tag.value)
    const isPolicy = policy.value.trim() !== ''
    problem.value = {
      signers: bad === undefined ? null : t.badSigner(bad.slice(0, 60)),
      tag: isTag ? null : t.badTag,
      policy: isPolicy ? await checking.worker.call('policyProblem', policy.value) : null,
    }
    if (Object.values(problem.value).some((found) => found !== null)) return
    await checking.pin({
      ...checking.pins.value,
      signers: words,
      domainTag: tag.value || null,
      policy: isPolicy ? policy.value : null,
    })
  }
  return (
    <details>
      <summary>{t.more}</summary>
      <form class="stack part-more" onSubmit={(event) => void submit(event)}>
        <Field label={t.signers} hint={t.signersHint} error={problem.value.signers}>
          {(control) => (
            <textarea
              {...control}
              rows={2}
              spellcheck={false}
              value={signers.value}
              onInput={(event) => {
                signers.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
        <Field label={t.tag} hint={t.tagHint} error={problem.value.tag}>
          {(control) => (
            <input
              {...control}
              spellcheck={false}
              value={tag.value}
              onInput={(event) => {
                tag.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
        <Field label={t.policy} hint={t.policyHint} error={problem.value.policy}>
          {(control) => (
            <textarea
              {...control}
              rows={4}
              spellcheck={false}
              value={policy.value}
              onInput={(event) => {
                policy.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
        <div class="row">
          <Button type="submit">{t.apply}</Button>
        </div>
      </form>
    </details>
  )
}
