import type { ComponentChildren } from 'preact'

interface ButtonProps {
  children: ComponentChildren
  onClick?: () => void
  kind?: 'primary' | 'plain' | 'quiet'
  type?: 'button' | 'submit'
  busy?: boolean
  disabled?: boolean
  /** The accessible name of a button whose content is only a picture. */
  label?: string
}

export function Button({ children, onClick, kind = 'plain', type = 'button', busy, disabled, label }: ButtonProps) {
  return (
    <button
      type={type}
      class={`button button-${kind}`}
      onClick={onClick}
      disabled={disabled}
      aria-busy={busy}
      aria-label={label}
      title={label}
    >
      {children}
    </button>
  )
}
