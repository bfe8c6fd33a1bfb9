import { createGathering, isBlank, isSpace, type Piece } from './piece.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * One JSON array, cut at its outermost commas without being held whole. Whether an entry is JSON is seen when it is
 * read; one whose brackets or quotes do not close takes what follows with it.
 */
export async function* splitArray(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Piece> {
  const entry = createGathering(maxBytes)
  let number = 0
  /** Of brackets that are open, the array's own among them. */
  let depth = 0
  let isEnded = false
  let isInString = false
  let isEscaped = false

  for await (const bytes of source) {
    let start = 0
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInString = false
      } else if (isEnded) {
        if (isSpace(byte)) continue
        yield { at: 'the end', problem: 'has something after the array' }
        return
      } else if (byte === QUOTE) {
        isInString = true
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        depth++
        if (depth === 1) start = i + 1
      } else if (depth > 1 && (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) {
        depth--
      } else if (depth === 1 && (byte === COMMA || byte === CLOSE_ARRAY)) {
        entry.add(bytes.subarray(start, i))
        start = i + 1
        isEnded = byte === CLOSE_ARRAY
        const piece = entry.take(`entry ${++number}`)
        const isEmptyArray = isEnded && number === 1 && 'bytes' in piece && isBlank(piece.bytes)
        if (!isEmptyArray) yield piece
      }
    }
    if (!isEnded) entry.add(bytes.subarray(start))
  }
  if (!isEnded) yield { at: `entry ${number + 1}`, problem: 'is cut off: the array has no end' }
}
