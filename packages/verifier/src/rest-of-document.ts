// Collects the text of a bundle without the rows of its long lists, and finds where those lists begin. The strict
// parser reads the collected text at the end, so it also refuses a second list with the same key.

import { RefusedBundle } from './untrusted.ts'

const MAX_LENGTH = 1024 * 1024

/** The lists that may be too long for memory. */
export type ListKey = 'files' | 'leaf_hashes'

export interface RestOfDocument {
  /** The list that begins in this piece, and the text after its opening bracket. Null if none does. */
  write(piece: string): { list: ListKey; rows: string } | null
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
  const found = new Set<ListKey>()

  /** The list that begins at this character. */
  function step(char: string): ListKey | null {
    if (stringStart >= 0) inString(char)
    else if (char === '"') stringStart = at
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ':' && depth === 1) key = lastString
    else if (char === ',' && depth === 1) key = ''
    const list = char === '[' && stringStart < 0 && depth === 2 ? listKey(key) : null
    return list !== null && !found.has(list) ? list : null
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
        const list = step(text[at] as string)
        if (!list) continue
        found.add(list)
        at++
        const rows = text.slice(at)
        text = text.slice(0, at)
        return { list, rows }
      }
      if (text.length > MAX_LENGTH)
        throw new RefusedBundle('too_large', `the parts besides the file list exceed ${MAX_LENGTH} characters`)
      return null
    },
    text: () => text,
  }
}

/** Decodes the key, which may be written with escapes. */
function listKey(key: string): ListKey | null {
  try {
    const name = JSON.parse(key)
    return name === 'files' || name === 'leaf_hashes' ? name : null
  } catch {
    return null
  }
}
