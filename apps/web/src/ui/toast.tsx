import { signal } from '@preact/signals'

const SHOWN_MS = 2_500

const message = signal('')
let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a short message, which screen readers announce. */
export function toast(text: string): void {
  message.value = text
  clearTimeout(timer)
  timer = setTimeout(() => {
    message.value = ''
  }, SHOWN_MS)
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {message.value && <span class="toast">{message.value}</span>}
    </div>
  )
}
