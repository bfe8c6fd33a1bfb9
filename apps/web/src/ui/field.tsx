import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { common } from '#texts/common'

interface FieldProps {
  label: ComponentChildren
  hint?: ComponentChildren
  error?: string | null
  isRequired?: boolean
  /** Renders the control with these attributes, which connect it to its label and messages. */
  children: (control: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ComponentChildren
}

export function Field({ label, hint, error, isRequired, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isRequired && <span class="required">{common.states.required}</span>}
      </label>
      {children({ id, 'aria-describedby': `${id}-about`, 'aria-invalid': Boolean(error) })}
      <div id={`${id}-about`} class={error ? 'field-error' : 'field-hint'}>
        {error || hint}
      </div>
    </div>
  )
}
