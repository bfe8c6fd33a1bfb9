// Escapes untrusted text (from a gateway, a node, a filename) for a terminal, so that it cannot control the terminal.

import { printable } from '@svc/verifier/untrusted'

const MAX_LENGTH = 2000

export function shown(text: string): string {
  return printable(text, MAX_LENGTH)
}

const ESCAPE = '\u001b'
/** Line breaks and the colours of `style.ts`; then every character that a terminal would act on. */
const ALLOWED_OR_CONTROL = new RegExp(
  `(\\n|${ESCAPE}\\[(?:1|2|22|31|32|39)m)|[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]`,
  'gu',
)

/** The last filter before output: only our own colours and line breaks reach the terminal. */
export function terminalSafe(text: string): string {
  return text.replace(ALLOWED_OR_CONTROL, (char, ours?: string) => ours ?? shown(char))
}

const CONTROL = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

/** One line of JSON. Also escapes control characters that JSON.stringify leaves as they are. */
export function jsonLine(document: unknown): string {
  const text = JSON.stringify(document, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
  return text.replace(CONTROL, escaped)
}

/** A character outside the basic plane needs two escapes. */
function escaped(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
