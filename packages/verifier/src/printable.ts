// Text that a bundle or a node made up, before it goes into a sentence for a person: on one line, not too long, and
// without the characters that steer terminals or turn the direction of writing.

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

export function printable(text: string, maxLength: number): string {
  const start = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  return start.replace(INVISIBLE, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/** In quotes. */
export function quoted(text: string): string {
  return `"${printable(text, 80)}"`
}
