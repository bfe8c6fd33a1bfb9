// Text of bundles, files and nodes on the page. Its author may want it to look like something else.

import { printable } from '@svc/verifier/untrusted'

const MAX_NAME = 300

/** In its own direction, with characters visible that change the direction of writing or hide. */
export function Name({ text }: { text: string }) {
  return <bdi class="name">{printable(text, MAX_NAME)}</bdi>
}

/** A text or number of an unchecked part of a bundle; null for what is neither. */
export function shownValue(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? printable(value, MAX_NAME) : null
}
