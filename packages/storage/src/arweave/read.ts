import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type GivenBytes, givenBytes, isRange } from '../http/answer.ts'
import type { Patience } from '../timeouts.ts'
import { resumable } from '../http/resumable.ts'
import { BUFFERING } from '../http/socket.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { pastTheEnd, requireRange } from '../range.ts'
import type { Gateways } from './gateways.ts'

/** Null when no gateway has it. */
export async function readItem(
  gateways: Gateways,
  patience: Patience,
  id: string,
  range: ByteRange | undefined,
): Promise<Readable | null> {
  if (range) requireRange(range)
  const found = await gateways.ask('GET', id, range ? headersFor(range) : {}, (answer) => {
    const given = givenBytes(answer)
    if (range && range.end >= given.total) throw pastTheEnd()
    const isUseful = range ? isAll(given) || isRange(given, range) : isAll(given)
    if (isUseful) return { answer, given }
    throw new ProviderError('unavailable', new Error('a gateway gave another range than it was asked for'))
  })
  if (!found) return null
  const { answer, given } = found
  const stream = resumable(answer, given, patience, (position) =>
    goOn(gateways, id, { start: position, end: given.end }, given.total),
  )
  return range && !isRange(given, range) ? cut(stream, range) : stream
}

export async function itemSize(gateways: Gateways, id: string): Promise<number | null> {
  return gateways.ask('HEAD', id, {}, (answer) => {
    answer.resume()
    return Number(answer.headers['content-length'])
  })
}

const isAll = ({ start, end, total }: GivenBytes) => start === 0 && end === total - 1

/** From any gateway that gives exactly the rest of as long an item. */
async function goOn(gateways: Gateways, id: string, rest: ByteRange, total: number): Promise<IncomingMessage> {
  const next = await gateways.ask('GET', id, headersFor(rest), (answer) => {
    const given = givenBytes(answer)
    if (isRange(given, rest) && given.total === total) return answer
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
