import { type Signal, useSignal } from '@preact/signals'
import { texts } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { TextField } from '../../ui/text-field.tsx'
import type { Checking } from './checking.ts'

const t = texts.keys

const MAX_KEYS = 100

/** The inputs for `--signer`, `--domain-tag`, `--log-key` and `--policy` of the command line. */
export function MorePins({ checking }: { checking: Checking }) {
  const signers = useGiven()
  const tag = useGiven()
  const logKeys = useGiven()
  const policy = useGiven()
  const submit = async (event: Event) => {
    event.preventDefault()
    const signerWords = wordsOf(signers.text.value)
    const logWords = wordsOf(logKeys.text.value)
    const isPolicy = policy.text.value.trim() !== ''
    const bad = signerWords.find((word) => !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(word))
    const isTag = tag.text.value === '' || /^[ -~]{25}$/.test(tag.text.value)
    const { worker } = checking
    const logProblems = await Promise.all(logWords.map((word) => worker.call('logKeyProblem', word)))
    signers.problem.value = bad === undefined ? null : t.badSigner(bad.slice(0, 60))
    tag.problem.value = isTag ? null : t.badTag
    logKeys.problem.value = logProblems.find((problem) => problem !== null) ?? null
    policy.problem.value = isPolicy ? await worker.call('policyProblem', policy.text.value) : null
    if ([signers, tag, logKeys, policy].some(({ problem }) => problem.value !== null)) return
    await checking.pin({
      ...checking.pins.value,
      signers: signerWords,
      domainTag: tag.text.value || null,
      logKeys: logWords,
      policy: isPolicy ? policy.text.value : null,
    })
  }
  return (
    <details>
      <summary>{t.more}</summary>
      <form class="stack part-more" onSubmit={(event) => void submit(event)}>
        <Lines label={t.signers} hint={t.signersHint} rows={2} given={signers} />
        <TextField label={t.tag} hint={t.tagHint} {...tag} />
        <Lines label={t.logKeys} hint={t.logKeysHint} rows={2} given={logKeys} />
        <Lines label={t.policy} hint={t.policyHint} rows={4} given={policy} />
        <div class="row">
          <Button type="submit">{t.apply}</Button>
        </div>
      </form>
    </details>
  )
}

interface Given {
  text: Signal<string>
  problem: Signal<string | null>
}

function useGiven(): Given {
  return { text: useSignal(''), problem: useSignal<string | null>(null) }
}

function wordsOf(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .slice(0, MAX_KEYS)
}

function Lines({ label, hint, rows, given }: { label: string; hint: string; rows: number; given: Given }) {
  const { text, problem } = given
  return (
    <Field label={label} hint={hint} error={problem.value}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          spellcheck={false}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
          }}
        />
      )}
    </Field>
  )
}
