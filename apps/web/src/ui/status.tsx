import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'info' | 'warn' | 'bad' | 'neutral'

/** A word with a colour; the word is clear without the colour. */
export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`status status-${tone}`}>{children}</span>
}

/** The colour of an HTTP status. */
export function toneOf(status: number): Tone {
  if (status === 402) return 'warn'
  return (['bad', 'neutral', 'good', 'info', 'warn', 'bad'] as const)[Math.floor(status / 100)] ?? 'neutral'
}
