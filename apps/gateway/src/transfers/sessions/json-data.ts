// Finds the value of the top member `data` in a JSON object that comes in pieces, and keeps all the rest for an
// ordinary reader: a part is never in memory as a whole.

export interface DataScanner {
  /** What of `data` is in this piece, still as JSON has it but for `\/`. Null when the rest is too long to keep. */
  feed(piece: Buffer): string | null
  /** The document in which `data` is empty. */
  rest(): Uint8Array
}

/** Room for spaces and for members that nobody asked for. */
export const MAX_REST_BYTES = 16_384

const [QUOTE, BACKSLASH, COLON, COMMA] = Buffer.from('"\\:,') as unknown as [number, number, number, number]
const OPENING: readonly number[] = [...Buffer.from('{[')]
const CLOSING: readonly number[] = [...Buffer.from('}]')]

export function dataScanner(): DataScanner {
  const rest = Buffer.alloc(MAX_REST_BYTES)
  let length = 0
  let depth = 0
  let isInData = false
  /** Where the string that is being read began, behind its quote. */
  let stringStart: number | null = null
  let isEscaped = false
  let lastString = ''
  /** The member whose value comes, of the outermost object. */
  let key: string | null = null
  /** A backslash at the end of a piece: what it means stands in the next one. */
  let held = ''

  function step(byte: number): void {
    rest[length++] = byte
    if (stringStart !== null) stepInString(byte, stringStart)
    else if (byte === QUOTE) {
      if (depth === 1 && key === 'data') isInData = true
      else stringStart = length
    } else if (OPENING.includes(byte)) depth++
    else if (CLOSING.includes(byte)) depth--
    else if (byte === COLON && depth === 1) key = lastString
    else if (byte === COMMA && depth === 1) key = null
  }

  function stepInString(byte: number, start: number): void {
    if (isEscaped) isEscaped = false
    else if (byte === BACKSLASH) isEscaped = true
    else if (byte === QUOTE) {
      lastString = rest.toString('latin1', start, length - 1)
      stringStart = null
    }
  }

  /** Some writers escape every slash. Any other escape is of nothing that base64 has, and is left for all to see. */
  function readData(piece: Buffer, from: number): { text: string; end: number } {
    const quote = piece.indexOf(QUOTE, from)
    const end = quote === -1 ? piece.length : quote
    const text = held + piece.toString('latin1', from, end)
    held = quote === -1 && text.endsWith('\\') ? '\\' : ''
    isInData = quote === -1
    return { text: text.slice(0, text.length - held.length).replaceAll('\\/', '/'), end }
  }

  return {
    feed(piece) {
      let data = ''
      let at = 0
      while (at < piece.length) {
        if (isInData) {
          const { text, end } = readData(piece, at)
          data += text
          at = end
          // The closing quote: the string is empty to those who read the rest.
          if (!isInData) rest[length++] = piece[at++] as number
        } else step(piece[at++] as number)
        if (length === rest.length) return null
      }
      return data
    },
    rest: () => rest.subarray(0, length),
  }
}
