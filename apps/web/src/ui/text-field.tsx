import type { Signal } from '@preact/signals'
import type { TargetedInputEvent } from 'preact'
import { Field } from './field.tsx'

interface TextFieldProps {
  label: string
  hint?: string
  text: Signal<string>
  /** What is wrong with the text; gone as soon as it is changed. */
  problem?: Signal<string | null>
  isSecret?: boolean
}

/** An id or a key that is pasted. Browsers neither correct nor remember it. */
export function TextField({ label, hint, text, problem, isSecret = false }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={problem?.value ?? null}>
      {(control) => {
        const input = {
          ...control,
          spellcheck: false,
          autocomplete: 'off' as const,
          value: text.value,
          onInput(event: TargetedInputEvent<HTMLInputElement>) {
            text.value = event.currentTarget.value
            if (problem) problem.value = null
          },
        }
        return isSecret ? <input type="password" {...input} /> : <input {...input} />
      }}
    </Field>
  )
}
