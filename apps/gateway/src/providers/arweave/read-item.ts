import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Patience } from '../http/patience.ts'
import { resumable } from '../http/resumable.ts'
import { BUFFERING } from '../http/socket.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import type { Gateways } from './gateways.ts'

/** Null when no gateway has it. */
export async function readItem(
  gateways: Gateways,
  patience: Patience,
  id: string,
  range: ByteRange | undefined,
): Promise<Readable | null> {
  if (range && !(range.start >= 0 && range.start <= range.end)) throw notWithin()
  const found = await gateways.ask('GET', id, range ? headersFor(range) : {}, (answer) => {
    const given = givenBy(answer)
    if (range && range.end >= given.total) throw notWithin()
    const isUseful = range ? isAll(given) || isSame(given, range) : isAll(given)
    if (isUseful) return { answer, given }
    throw new ProviderError('unavailable', new Error('a gateway gave another range than it was asked for'))
  })
  if (!found) return null
  const { answer, given } = found
  const stream = resumable(answer, given.start, patience, (position) =>
    goOn(gateways, id, { start: position, end: given.end }, given.total),
  )
  return range && !isSame(given, range) ? cut(stream, range) : stream
}

export async function itemSize(gateways: Gateways, id: string): Promise<number | null> {
  return gateways.ask('HEAD', id, {}, (answer) => {
    answer.resume()
    return Number(answer.headers['content-length'])
  })
}

/** What an answer holds, both ends in it, and how long all is. */
interface Given extends ByteRange {
  total: number
}

function givenBy({ statusCode, headers }: IncomingMessage): Given {
  const length = Number(headers['content-length'])
  if (statusCode === 200) return { start: 0, end: length - 1, total: length }
  const [start, end, total] = (/^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [])
    .slice(1)
    .map(Number)
  if (start !== undefined && end !== undefined && total !== undefined && end - start + 1 === length) {
    return { start, end, total }
  }
  throw new ProviderError('unavailable', new Error('a gateway does not tell which range it gives'))
}

const isAll = ({ start, end, total }: Given) => start === 0 && end === total - 1
const isSame = (given: Given, { start, end }: ByteRange) => given.start === start && given.end === end

/** From any gateway that gives exactly the rest of as long an item. */
async function goOn(gateways: Gateways, id: string, rest: ByteRange, total: number): Promise<IncomingMessage> {
  const next = await gateways.ask('GET', id, headersFor(rest), (answer) => {
    const given = givenBy(answer)
    if (isSame(given, rest) && given.total === total) return answer
    throw new ProviderError('unavailable', new Error('a gateway did not give the rest of an item'))
  })
  if (next) return next
  throw new ProviderError('unavailable', new Error('an item went away while it was read'))
}

/** Of a gateway that gives all, whatever it is asked for. */
function cut(all: Readable, { start, end }: ByteRange): Readable {
  async function* within() {
    let position = 0
    for await (const chunk of all) {
      const [from, to] = [Math.max(start - position, 0), end + 1 - position]
      position += chunk.length
      if (from < chunk.length) yield chunk.subarray(from, to)
      if (to <= chunk.length) return
    }
  }
  return Readable.from(within(), { objectMode: false, ...BUFFERING })
}

function headersFor({ start, end }: ByteRange) {
  return { range: `bytes=${start}-${end}` }
}

function notWithin(): RangeError {
  return new RangeError('the range is not within the object')
}
