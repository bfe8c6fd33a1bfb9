// A form that looks for one thing, at the top of a section.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'

interface FinderProps {
  label: string
  hint?: string
  submit: string
  /** What was looked for last. */
  sought: string
  maxLength?: number
  /** Goes there, or says what is wrong with the text. */
  find: (text: string) => string | null
  /** What else can be chosen. */
  children?: ComponentChildren
}

export function Finder({ label, hint, submit, sought, maxLength, find, children }: FinderProps) {
  const text = useSignal(sought)
  const problem = useSignal<string | null>(null)
  return (
    <search>
      <form
        class={children ? 'card find-payment' : 'card search-line'}
        onSubmit={(event) => {
          event.preventDefault()
          problem.value = find(text.value.trim())
        }}
      >
        <Field label={label} {...(hint && { hint })} error={problem.value}>
          {(control) => (
            <input
              {...control}
              type="search"
              class="mono"
              autocomplete="off"
              spellcheck={false}
              {...(maxLength && { maxLength })}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value
                problem.value = null
              }}
            />
          )}
        </Field>
        {children}
        <Button type="submit" kind="primary">
          {submit}
        </Button>
      </form>
    </search>
  )
}
