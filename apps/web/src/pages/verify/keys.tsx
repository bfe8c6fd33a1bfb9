import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import type { Checking } from './checking.ts'
import { MorePins } from './more-pins.tsx'
import { forget, type RememberedKeys, readKeys, remember, remembered } from './pins.ts'
import { Name } from './shown.tsx'
import { StepCard } from './step.tsx'
import type { CheckedBundle } from './worker/messages.ts'

const t = texts.keys

/** Key lists have a few kilobytes. */
const MAX_FILE_BYTES = 1024 * 1024

export function KeysCard({ checking, bundle }: { checking: Checking; bundle: CheckedBundle | null }) {
  const given = useSignal<readonly RememberedKeys[]>([])
  const all = [...remembered.value, ...given.value]
  const problem = useSignal<string | null>(null)
  const texts = all.map(({ text }) => text).join('\n\n')

  // Other keys change the facts.
  useEffect(() => {
    void readKeys(checking.worker, all).then(({ keys, listed }) => {
      const { pins } = checking
      if (JSON.stringify([keys, listed]) !== JSON.stringify([pins.value.keys, pins.value.listed]))
        void checking.pin({ ...pins.value, keys, listed })
    })
  }, [texts])

  const add = async (keys: RememberedKeys, keep: boolean): Promise<boolean> => {
    const read = await checking.worker.call('readKeys', keys.text)
    if (!read.ok) {
      problem.value = read.problem
      return false
    }
    problem.value = null
    if (!keep) given.value = [...given.value.filter(({ text }) => text !== keys.text), keys]
    else if (!remember(keys)) problem.value = t.notKept
    return true
  }
  const remove = (keys: RememberedKeys) => {
    given.value = given.value.filter(({ text }) => text !== keys.text)
    forget(keys)
  }
  return (
    <StepCard id="keys" title={t.title} facts={['key_pinned']} bundle={bundle}>
      <div class="stack">
        <p>{t.text}</p>
        {all.length === 0 && <p class="part-empty">{t.none}</p>}
        <ul class="pinned">
          {all.map((keys) => (
            <PinnedRow
              key={keys.text}
              keys={keys}
              isRemembered={remembered.value.includes(keys)}
              remove={() => remove(keys)}
            />
          ))}
        </ul>
        <AddKeys add={add} problem={problem.value} />
        <MorePins checking={checking} />
      </div>
    </StepCard>
  )
}

function PinnedRow(props: { keys: RememberedKeys; isRemembered: boolean; remove: () => void }) {
  const { keys, isRemembered, remove } = props
  const label = keys.label || t.unnamed
  return (
    <li class="pinned-row">
      <span class="pinned-text">
        <b>
          <Name text={label} />
        </b>
        {isRemembered && <span class="pill">{t.isRemembered}</span>}
        <code>{keysIn(keys.text).join(' ')}</code>
      </span>
      <Button kind="quiet" onClick={remove} label={t.remove(label)}>
        {t.removeShort}
      </Button>
    </li>
  )
}

/** The keys of a key list, or typed keys. */
function keysIn(text: string): string[] {
  return [...new Set(text.match(/\b[0-9a-f]{64}\b/g))]
}

interface AddProps {
  add(keys: RememberedKeys, keep: boolean): Promise<boolean>
  problem: string | null
}

function AddKeys({ add, problem }: AddProps) {
  const text = useSignal('')
  const label = useSignal('')
  const keep = useSignal(false)
  const fileProblem = useSignal<string | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    fileProblem.value = null
    const isAdded = await add({ label: label.value.trim(), text: text.value }, keep.value)
    if (!isAdded) return
    text.value = ''
    label.value = ''
  }
  const choose = async (event: Event) => {
    const input = event.currentTarget as HTMLInputElement
    const file = input.files?.[0]
    if (!file) return
    if (file.size > MAX_FILE_BYTES) {
      fileProblem.value = t.tooLarge
      return
    }
    fileProblem.value = null
    text.value = await file.text()
    label.value ||= file.name
    input.value = ''
  }
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <Field label={t.key} hint={t.keyHint} error={fileProblem.value ?? problem}>
        {(control) => (
          <textarea
            {...control}
            rows={2}
            spellcheck={false}
            autocomplete="off"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value
            }}
          />
        )}
      </Field>
      <Field label={t.label} hint={t.labelHint}>
        {(control) => (
          <input
            {...control}
            maxLength={100}
            value={label.value}
            onInput={(event) => {
              label.value = event.currentTarget.value
            }}
          />
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={keep.value}
          onChange={(event) => {
            keep.value = event.currentTarget.checked
          }}
        />
        {t.remember}
      </label>
      <div class="row">
        <Button kind="primary" type="submit" disabled={text.value.trim() === ''}>
          {t.add}
        </Button>
        <label class="button file-button">
          {t.file}
          <input
            class="quiet-text"
            type="file"
            accept=".json,.txt,application/json,text/plain"
            onChange={(event) => void choose(event)}
          />
        </label>
      </div>
    </form>
  )
}
