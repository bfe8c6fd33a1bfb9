import type { ComponentChildren } from 'preact'
import { common } from '#texts/common'
import { Button } from './button.tsx'

export function Loading({ label }: { label: string }) {
  return (
    <div class="state loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {label}
    </div>
  )
}

interface EmptyProps {
  title: string
  text: string
  /** Nothing else is on the page: its title is the first heading. */
  isPage?: boolean
  /** What to do next. */
  children?: ComponentChildren
}

export function Empty({ title, text, isPage = false, children }: EmptyProps) {
  return (
    <div class="state">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      <p>{text}</p>
      {children}
    </div>
  )
}

interface ErrorProps {
  title: string
  text: string
  retry: () => void
  retryLabel?: string
}

export function ErrorState({ title, text, retry, retryLabel = common.states.retry }: ErrorProps) {
  return (
    <div class="state state-error" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      <Button onClick={retry}>{retryLabel}</Button>
    </div>
  )
}
