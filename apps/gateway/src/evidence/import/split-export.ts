// Splits an export into the bytes of its records. An export is JSON Lines or one JSON array.

/** The bytes of one record and their position in the export, or why they could not be read. */
export type Piece = { at: string; bytes: Uint8Array } | { at: string; problem: string }

/** A record of a million files has about 150 MB. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024

/** An export whose first character is `[` is an array. */
export async function* splitExport(
  source: AsyncIterable<Uint8Array>,
  maxRecordBytes = MAX_RECORD_BYTES,
): AsyncGenerator<Piece> {
  const { first, bytes } = await peek(source)
  const split = first === OPEN_ARRAY ? splitArray : splitLines
  yield* split(bytes, maxRecordBytes)
}

/** Returns the first byte that is not white space, and all the bytes. */
async function peek(source: AsyncIterable<Uint8Array>) {
  const rest = source[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let first: number | undefined
  while (first === undefined) {
    const { value, done } = await rest.next()
    if (done) break
    read.push(value)
    first = value.find((byte: number) => !isSpace(byte))
  }
  async function* all() {
    yield* read
    yield* { [Symbol.asyncIterator]: () => rest }
  }
  return { first, bytes: all() }
}

const NEWLINE = 0x0a

/** A malformed line does not affect the others. Blank lines are counted but skipped. */
async function* splitLines(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Piece> {
  const line = createRecordBuffer(maxBytes)
  let number = 0
  for await (const bytes of source) {
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end))
      yield* unlessBlank(line.flush(`line ${++number}`))
      start = end + 1
    }
    line.add(bytes.subarray(start))
  }
  yield* unlessBlank(line.flush(`line ${++number}`))
}

function unlessBlank(piece: Piece): Piece[] {
  return 'bytes' in piece && isBlank(piece.bytes) ? [] : [piece]
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Cuts an array at its outermost commas, and never has all of it in memory. It does not check that an entry is JSON. An
 * entry whose brackets or quotes do not close includes the text after it.
 */
async function* splitArray(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Piece> {
  const entry = createRecordBuffer(maxBytes)
  let number = 0
  /** How many brackets are open, including the array's own. */
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
        yield { at: 'the end', problem: 'has data after the array' }
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
        const piece = entry.flush(`entry ${++number}`)
        const isEmptyArray = isEnded && number === 1 && 'bytes' in piece && isBlank(piece.bytes)
        if (!isEmptyArray) yield piece
      }
    }
    if (depth > 0 && !isEnded) entry.add(bytes.subarray(start))
  }
  if (!isEnded) yield { at: `entry ${number + 1}`, problem: 'is truncated: the array has no end' }
}

interface RecordBuffer {
  add(bytes: Uint8Array): void
  /** Returns the bytes since the last call. */
  flush(at: string): Piece
}

/** Buffers at most `maxBytes`. Of a longer record it only remembers that the record is too long. */
function createRecordBuffer(maxBytes: number): RecordBuffer {
  let parts: Uint8Array[] = []
  let length = 0
  return {
    add(bytes) {
      length += bytes.length
      if (length > maxBytes) parts = []
      else if (bytes.length > 0) parts.push(bytes)
    },
    flush(at) {
      const isComplete = length <= maxBytes
      const bytes = Buffer.concat(parts)
      parts = []
      length = 0
      return isComplete ? { at, bytes } : { at, problem: `is longer than ${maxBytes} bytes` }
    },
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(isSpace)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}
