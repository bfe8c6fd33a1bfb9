// A search form at the top of a section.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'

interface FinderProps {
  label: string
  hint?: string
  submit: string
  /** The last search text. */
  sought: string
  maxLength?: number
  /** Opens the result, or returns the problem with the text. */
  find: (text: string) => string | null
  /** Additional controls. */
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
