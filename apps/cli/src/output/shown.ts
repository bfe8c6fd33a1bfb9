// Text from elsewhere (a gateway, a node, a file's name) on its way to a terminal: nothing in it may steer the terminal.

import { printable } from '@svc/verifier/untrusted'

const MAX_LENGTH = 2000

export function shown(text: string): string {
  return printable(text, MAX_LENGTH)
}

const ESCAPE = '\u001b'
/** Line ends, and what `style.ts` writes; then all that a terminal would act on. */
const OURS_OR_STEERING = new RegExp(
  `(\\n|${ESCAPE}\\[(?:1|2|22|31|32|39)m)|[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]`,
  'gu',
)

/** The last filter before output: only our own colours and line ends get through to the terminal. */
export function harmless(text: string): string {
  return text.replace(OURS_OR_STEERING, (char, ours?: string) => ours ?? shown(char))
}

const STEERING = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

/** One line. What JSON.stringify leaves as it is, though a terminal or a line reader would act on it, is escaped too. */
export function jsonLine(document: unknown): string {
  const text = JSON.stringify(document, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
  return text.replace(STEERING, escaped)
}

/** A character beyond the first 65,536 takes two escapes. */
function escaped(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
