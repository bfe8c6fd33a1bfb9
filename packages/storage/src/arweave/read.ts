import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { answeredBytes, cutRange, isComplete, isSameRange, rangeHeader } from '../http/byte-ranges.ts'
import { resumable } from '../http/resumable.ts'
import { rangePastEnd, requireRange } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import type { HttpTimeouts } from '../timeouts.ts'
import type { Gateways } from './gateways.ts'

/** Null when no gateway has it. */
export async function readItem(
  gateways: Gateways,
  timeouts: HttpTimeouts,
  id: string,
  range: ByteRange | undefined,
): Promise<Readable | null> {
  if (range) requireRange(range)
  const found = await gateways.ask('GET', id, range ? rangeHeader(range) : {}, (answer) => {
    const bytes = answeredBytes(answer)
    if (range && range.end >= bytes.total) throw rangePastEnd()
    // Some gateways send the whole item, whatever they are asked for.
    if (isComplete(bytes) || (range && isSameRange(bytes, range))) return { answer, bytes }
    throw new ProviderError('unavailable', 'a gateway sent a range that was not requested')
  })
  if (!found) return null
  const { answer, bytes } = found
  const stream = resumable(answer, bytes, timeouts, (position) =>
    openRest(gateways, id, { start: position, end: bytes.end }, bytes.total),
  )
  return range && !isSameRange(bytes, range) ? cutRange(stream, range) : stream
}

export async function itemSize(gateways: Gateways, id: string): Promise<number | null> {
  return gateways.ask('HEAD', id, {}, (answer) => {
    answer.resume()
    return Number(answer.headers['content-length'])
  })
}

/** From any gateway that sends exactly the rest of an item of the same size. */
async function openRest(gateways: Gateways, id: string, rest: ByteRange, total: number): Promise<IncomingMessage> {
  const next = await gateways.ask('GET', id, rangeHeader(rest), (answer) => {
    const bytes = answeredBytes(answer)
    if (isSameRange(bytes, rest) && bytes.total === total) return answer
    throw new ProviderError('unavailable', 'a gateway did not send the rest of an item')
  })
  if (next) return next
  throw new ProviderError('unavailable', 'an item disappeared while it was read')
}
