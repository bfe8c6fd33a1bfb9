// The chunks of a snapshot, in a binary format that allows binary search: the number of chunks, the number of rows, an
// entry of fixed width for each chunk (its id, the index of its first row, the end of its first filename among the
// filenames), and the first filenames in UTF-8. Numbers have 32 bits, big-endian.

export interface ChunkListEntry {
  /** Hex. */
  id: string
  firstFilename: string
  rowCount: number
}

export interface ChunkList {
  length: number
  rowCount: number
  id(chunk: number): string
  firstRow(chunk: number): number
  firstFilename(chunk: number): string
  /** The chunk that would contain this name; 0 if the name sorts before all. */
  chunkOfName(filename: string): number
  chunkOfRow(row: number): number
}

const HEADER = 8
const ID = 32
const ENTRY = ID + 8

export function writeChunkList(entries: readonly ChunkListEntry[]): Uint8Array {
  const head = Buffer.alloc(HEADER + entries.length * ENTRY)
  const names: Buffer[] = []
  let row = 0
  let nameEnd = 0
  let at = HEADER
  for (const { id, firstFilename, rowCount } of entries) {
    const name = Buffer.from(firstFilename)
    names.push(name)
    nameEnd += name.length
    head.write(id, at, 'hex')
    head.writeUInt32BE(row, at + ID)
    head.writeUInt32BE(nameEnd, at + ID + 4)
    row += rowCount
    at += ENTRY
  }
  head.writeUInt32BE(entries.length, 0)
  head.writeUInt32BE(row, 4)
  return new Uint8Array(Buffer.concat([head, ...names]))
}

export function openChunkList(bytes: Uint8Array): ChunkList {
  const list = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length = list.readUInt32BE(0)
  const rowCount = list.readUInt32BE(4)
  const names = HEADER + length * ENTRY
  const firstRow = (chunk: number) => list.readUInt32BE(HEADER + chunk * ENTRY + ID)
  const nameEnd = (chunk: number) => (chunk < 0 ? 0 : list.readUInt32BE(HEADER + chunk * ENTRY + ID + 4))

  /** The last chunk that does not begin after the target. */
  function lastChunkNotAfter(beginsAfter: (chunk: number) => boolean): number {
    let low = 0
    let high = length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (beginsAfter(middle)) high = middle - 1
      else low = middle
    }
    return low
  }

  return {
    length,
    rowCount,
    firstRow,
    firstFilename: (chunk) => list.toString('utf8', names + nameEnd(chunk - 1), names + nameEnd(chunk)),
    id: (chunk) => list.toString('hex', HEADER + chunk * ENTRY, HEADER + chunk * ENTRY + ID),
    chunkOfRow: (row) => lastChunkNotAfter((chunk) => firstRow(chunk) > row),
    chunkOfName(filename) {
      // UTF-8 byte order equals code-point order.
      const name = Buffer.from(filename)
      return lastChunkNotAfter(
        (chunk) => list.compare(name, 0, name.length, names + nameEnd(chunk - 1), names + nameEnd(chunk)) > 0,
      )
    },
  }
}
