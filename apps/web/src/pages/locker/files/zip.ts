// Writes a zip archive as a stream, without compression (APPNOTE 6.3.10). Sizes and checksums follow the bytes of each
// file, because they are unknown before. Without the 64-bit extension, so an archive is limited in number and size.

export interface ZipEntry {
  changedAt: Date
  /** The name has slashes between folders. */
  open(): Promise<{ name: string; stream: ReadableStream<Uint8Array> }>
}

/** Far from the limits of the format: 65,535 files and 4 GiB. */
export const ZIP_FILES = 1_000
export const ZIP_BYTES = 2 * 1024 ** 3

const LOCAL_HEADER = 0x04034b50
const DESCRIPTOR = 0x08074b50
const CENTRAL_HEADER = 0x02014b50
const END = 0x06054b50
const VERSION = 20
/** Sizes follow the bytes, and names are UTF-8. */
const FLAGS = 0x0808

type Field = readonly [value: number, bytes: 2 | 4]

export function zipStream(entries: Iterable<ZipEntry>): ReadableStream<Uint8Array> {
  const chunks = zipChunks(entries)
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await chunks.return(undefined)),
  })
}

async function* zipChunks(entries: Iterable<ZipEntry>): AsyncGenerator<Uint8Array, void> {
  const central: Uint8Array[] = []
  let at = 0
  const sized = (bytes: Uint8Array) => {
    at += bytes.length
    if (at > 0xffffffff) throw new RangeError('the archive is too large')
    return bytes
  }
  for (const { changedAt, open } of entries) {
    const { name, stream } = await open()
    const start = at
    const path = new TextEncoder().encode(name)
    const [time, date] = dosTime(changedAt)
    const common: Field[] = [
      [VERSION, 2],
      [FLAGS, 2],
      [0, 2],
      [time, 2],
      [date, 2],
    ]
    yield sized(record([LOCAL_HEADER, 4], ...common, [0, 4], [0, 4], [0, 4], [path.length, 2], [0, 2]))
    yield sized(path)
    let crc = 0
    let size = 0
    for await (const chunk of chunksOf(stream)) {
      crc = crc32(chunk, crc)
      size += chunk.length
      yield sized(chunk)
    }
    const sums: Field[] = [
      [crc, 4],
      [size, 4],
      [size, 4],
    ]
    yield sized(record([DESCRIPTOR, 4], ...sums))
    const tail: Field[] = [
      [path.length, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 4],
      [start, 4],
    ]
    central.push(record([CENTRAL_HEADER, 4], [VERSION, 2], ...common, ...sums, ...tail), path)
  }
  const start = at
  for (const bytes of central) yield sized(bytes)
  const count = central.length / 2
  yield record([END, 4], [0, 2], [0, 2], [count, 2], [count, 2], [at - start, 4], [start, 4], [0, 2])
}

function record(...fields: Field[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [, size]) => sum + size, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [value, size] of fields) {
    if (size === 2) view.setUint16(at, value, true)
    else view.setUint32(at, value, true)
    at += size
  }
  return bytes
}

/** Not every browser iterates over streams. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel()
  }
}

/** Two seconds are the finest unit; years before 1980 do not exist. */
function dosTime(at: Date): [time: number, date: number] {
  if (at.getFullYear() < 1980) return [0, 33]
  return [
    (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1),
    ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate(),
  ]
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8)
  return ~crc >>> 0
}
