// Untrusted text of bundles, files and nodes, which may imitate other text.

import { printable } from '@svc/verifier/untrusted'

const MAX_NAME = 300

/** Text in its own writing direction, with direction-changing and hidden characters made visible. */
export function Name({ text }: { text: string }) {
  return <bdi class="name">{printable(text, MAX_NAME)}</bdi>
}

/** A text or number of an unchecked part of a bundle; null for other values. */
export function shownValue(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? printable(value, MAX_NAME) : null
}
