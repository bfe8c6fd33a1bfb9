// Collects the text of a bundle without the rows of its file list, and finds where that list begins. The strict parser
// reads the collected text at the end, so it also refuses a second list under the same key.

import { RefusedBundle } from './untrusted.ts'

const MAX_LENGTH = 1024 * 1024

export interface RestOfDocument {
  /** The text after the opening bracket of the file list; null when the list does not begin in this piece. */
  write(piece: string): string | null
  text(): string
}

export function createRestOfDocument(): RestOfDocument {
  let text = ''
  let at = 0
  let depth = 0
  let stringStart = -1
  let lastString = ''
  /** The key of the current value. */
  let key = ''
  let isListFound = false

  /** Whether the file list begins at this character. */
  function step(char: string): boolean {
    if (stringStart >= 0) inString(char)
    else if (char === '"') stringStart = at
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ':' && depth === 1) key = lastString
    else if (char === ',' && depth === 1) key = ''
    return char === '[' && stringStart < 0 && depth === 2 && !isListFound && isFilesKey(key)
  }

  function inString(char: string): void {
    if (char === '\\') at++
    if (char !== '"') return
    if (depth === 1) lastString = text.slice(stringStart, at + 1)
    stringStart = -1
  }

  return {
    write(piece) {
      text += piece
      for (; at < text.length; at++) {
        if (!step(text[at] as string)) continue
        isListFound = true
        at++
        const rows = text.slice(at)
        text = text.slice(0, at)
        return rows
      }
      if (text.length > MAX_LENGTH)
        throw new RefusedBundle('too_large', `${MAX_LENGTH} characters and more beside files`)
      return null
    },
    text: () => text,
  }
}

/** In any spelling: a key may be written with escapes. */
function isFilesKey(key: string): boolean {
  try {
    return JSON.parse(key) === 'files'
  } catch {
    return false
  }
}
