import type { Exchange } from './exchange.ts'
import type { GcsObject, Objects } from './objects.ts'

const CHUNK_BYTES = 256 * 1024

/** The bytes of an object, or the range that is asked for. */
export async function giveMedia(exchange: Exchange, objects: Objects, found: GcsObject, contentType: string) {
  const { size, generation } = found
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(exchange.headers.range ?? '') ?? []
  const start = Number(first ?? 0)
  const end = Math.min(last ? Number(last) : size - 1, size - 1)
  if (first && start >= size) {
    return exchange.answer(416, 'Requested range not satisfiable', { 'content-range': `bytes */${size}` })
  }
  const headers = {
    'content-type': contentType,
    'content-length': end - start + 1,
    'x-goog-generation': generation,
    'x-goog-stored-content-encoding': 'identity',
    'x-goog-stored-content-length': size,
    ...(first && { 'content-range': `bytes ${start}-${end}/${size}` }),
  }
  const file = await objects.read(found)
  const bytes = file.createReadStream({ start, end: Math.max(end, start), highWaterMark: CHUNK_BYTES })
  await exchange.give(first ? 206 : 200, headers, bytes)
}
