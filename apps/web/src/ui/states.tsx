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

export function Empty({ title, text }: { title: string; text: string }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      <p>{text}</p>
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
