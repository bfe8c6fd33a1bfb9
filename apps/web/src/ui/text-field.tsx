import type { Signal } from '@preact/signals'
import type { TargetedInputEvent } from 'preact'
import { Field } from './field.tsx'

interface TextFieldProps {
  label: string
  hint?: string
  text: Signal<string>
  /** The problem with the text; cleared when the text changes. */
  problem?: Signal<string | null>
  isSecret?: boolean
}

/** A field for an id or a key. Browsers neither correct nor remember its value. */
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
