import { createGathering, isBlank, type Piece } from './piece.ts'

const NEWLINE = 0x0a

/** JSON Lines: a broken line spoils no other. Blank ones are counted and left out. */
export async function* splitLines(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Piece> {
  const line = createGathering(maxBytes)
  let number = 0
  for await (const bytes of source) {
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end))
      yield* unlessBlank(line.take(`line ${++number}`))
      start = end + 1
    }
    line.add(bytes.subarray(start))
  }
  yield* unlessBlank(line.take(`line ${++number}`))
}

function unlessBlank(piece: Piece): Piece[] {
  return 'bytes' in piece && isBlank(piece.bytes) ? [] : [piece]
}
