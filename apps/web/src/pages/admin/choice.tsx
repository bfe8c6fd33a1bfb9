// A choice that is stored in the address.

import { Field } from '../../ui/field.tsx'
import { param, setParams } from './location.ts'

export function chosenWord<Name extends string>(name: string, words: Record<Name, string>, usual: Name): Name {
  const value = param(name)
  return Object.hasOwn(words, value) ? (value as Name) : usual
}

interface ChoiceProps {
  label: string
  name: string
  words: Readonly<Record<string, string>>
  value: string
}

export function Choice({ label, name, words, value }: ChoiceProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select {...control} onChange={(event) => setParams({ [name]: event.currentTarget.value })}>
          {Object.entries(words).map(([key, text]) => (
            <option key={key} value={key} selected={key === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
