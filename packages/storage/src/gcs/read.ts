import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { answeredBytes, checked, isComplete, isSameRange, rangeHeader } from '../http/byte-ranges.ts'
import { resumable } from '../http/resumable.ts'
import { rangePastEnd, requireRange } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import type { GcsBucket } from './bucket.ts'

export async function readObject(bucket: GcsBucket, name: string, range?: ByteRange): Promise<Readable | null> {
  if (range) requireRange(range)
  const answer = await bucket.open(name, {}, headersFor(range))
  if (!answer) return null
  return checked(answer, () => {
    const bytes = answeredBytes(requireStoredEncoding(answer))
    if (range && bytes.end < range.end) throw rangePastEnd()
    if (range ? !isSameRange(bytes, range) : !isComplete(bytes)) {
      throw new ProviderError('unavailable', 'the store sent a wrong range')
    }
    const generation = `${answer.headers['x-goog-generation']}`
    return resumable(answer, bytes, bucket.timeouts, (position) =>
      openRest(bucket, name, generation, { start: position, end: bytes.end }),
    )
  })
}

/** Reads the same generation of the object. */
async function openRest(
  bucket: GcsBucket,
  name: string,
  generation: string,
  rest: ByteRange,
): Promise<IncomingMessage> {
  const answer = await bucket.open(name, { ifGenerationMatch: generation }, headersFor(rest))
  if (!answer) throw new ProviderError('unavailable', 'an object disappeared while it was read')
  return checked(answer, () => {
    if (isSameRange(answeredBytes(requireStoredEncoding(answer)), rest)) return answer
    throw new ProviderError('unavailable', 'the store did not send the rest of an object')
  })
}

/** Accepting gzip prevents the store from decompressing objects that were uploaded compressed. */
function headersFor(range: ByteRange | undefined): Record<string, string> {
  return { 'accept-encoding': 'gzip', ...(range && rangeHeader(range)) }
}

/** Bytes that were compressed only for the transfer are not the stored ones. */
function requireStoredEncoding(answer: IncomingMessage): IncomingMessage {
  const { 'content-encoding': sent = 'identity', 'x-goog-stored-content-encoding': stored = 'identity' } =
    answer.headers
  if (sent === stored) return answer
  throw new ProviderError('unavailable', `bytes are stored as ${stored} and were sent as ${sent}`)
}
