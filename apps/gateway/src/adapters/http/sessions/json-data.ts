// Streams the base64 member `data` out of a JSON object that arrives in chunks, so that a part is never entirely in
// memory: a scanner finds the text of `data`, and a decoder converts it to bytes.

export interface DataScanner {
  /** The text of `data` in this chunk, with only `\/` unescaped. Null when the rest of the document is too long. */
  feed(chunk: Buffer): string | null
  /** The document with an empty `data`, for an ordinary JSON parser. */
  rest(): Uint8Array
}

/** Allows for white space and unknown members. */
export const MAX_REST_BYTES = 16_384

const [QUOTE, BACKSLASH, COLON, COMMA] = Buffer.from('"\\:,') as unknown as [number, number, number, number]
const OPENING: readonly number[] = [...Buffer.from('{[')]
const CLOSING: readonly number[] = [...Buffer.from('}]')]

export function dataScanner(): DataScanner {
  const rest = Buffer.alloc(MAX_REST_BYTES)
  let length = 0
  let depth = 0
  let isInData = false
  /** The offset of the current string, after its opening quote. */
  let stringStart: number | null = null
  let isEscaped = false
  let lastString = ''
  /** The member of the outermost object whose value comes next. */
  let key: string | null = null
  /** A backslash at the end of a chunk; the next chunk contains the character that it escapes. */
  let pending = ''

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

  /** Some encoders escape every slash. Base64 needs no other escape, so the decoder rejects any other. */
  function readData(chunk: Buffer, from: number): { text: string; end: number } {
    const quote = chunk.indexOf(QUOTE, from)
    const end = quote === -1 ? chunk.length : quote
    const text = pending + chunk.toString('latin1', from, end)
    pending = quote === -1 && text.endsWith('\\') ? '\\' : ''
    isInData = quote === -1
    return { text: text.slice(0, text.length - pending.length).replaceAll('\\/', '/'), end }
  }

  return {
    feed(chunk) {
      let data = ''
      let at = 0
      while (at < chunk.length) {
        if (isInData) {
          const { text, end } = readData(chunk, at)
          data += text
          at = end
          // The closing quote completes the empty string in the rest.
          if (!isInData) rest[length++] = chunk[at++] as number
        } else step(chunk[at++] as number)
        if (length === rest.length) return null
      }
      return data
    },
    rest: () => rest.subarray(0, length),
  }
}

export interface Base64Decoder {
  /** The bytes decoded so far. Null when the text is not base64. */
  feed(text: string): Buffer | null
  /** The last bytes. Null when the text is not base64. */
  end(): Buffer | null
}

/** Accepts only the standard alphabet with padding, so that each byte string has exactly one accepted text. */
export function base64Decoder(): Base64Decoder {
  let pending = ''
  return {
    feed(text) {
      const known = pending + text
      // Hold back the last group: only the final group may be padded.
      const length = Math.max(0, Math.floor((known.length - 1) / 4) * 4)
      pending = known.slice(length)
      return decodeUnpadded(known.slice(0, length))
    },
    end() {
      const bytes = Buffer.from(pending, 'base64')
      return pending.length % 4 === 0 && bytes.toString('base64') === pending ? bytes : null
    },
  }
}

/** Node skips unknown characters, which changes the length, and also accepts the URL-safe alphabet. */
function decodeUnpadded(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === (text.length / 4) * 3 && !text.includes('-') && !text.includes('_') ? bytes : null
}
