// Base64 that comes in pieces: the standard alphabet, padded, nothing else. One byte string has one accepted text.

export interface Base64Decoder {
  /** What is certain by now. Null when the text is not base64. */
  feed(text: string): Buffer | null
  /** The last bytes. */
  end(): Buffer | null
}

export function base64Decoder(): Base64Decoder {
  let held = ''
  return {
    feed(text) {
      const known = held + text
      // The last group stays behind: only the very last one of all may be padded.
      const length = Math.max(0, Math.floor((known.length - 1) / 4) * 4)
      held = known.slice(length)
      return decodeUnpadded(known.slice(0, length))
    },
    end() {
      const bytes = Buffer.from(held, 'base64')
      return held.length % 4 === 0 && bytes.toString('base64') === held ? bytes : null
    },
  }
}

/** The decoder skips what it does not know, which shows in the length, and takes the other alphabet too. */
function decodeUnpadded(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === (text.length / 4) * 3 && !text.includes('-') && !text.includes('_') ? bytes : null
}
