import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { givenBytes, isRange } from '../http/answer.ts'
import { resumable } from '../http/resumable.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { pastTheEnd, requireRange } from '../range.ts'
import type { GcsStore } from './bucket.ts'

export async function readObject(store: GcsStore, name: string, range?: ByteRange): Promise<Readable | null> {
  if (range) requireRange(range)
  const answer = await store.open(name, {}, headersFor(range))
  if (!answer) return null
  return orLetGo(answer, () => {
    const given = givenBytes(requireStored(answer))
    if (range && given.end < range.end) throw pastTheEnd()
    if (!isRange(given, range ?? { start: 0, end: given.total - 1 })) throw trouble('another range was given')
    const generation = `${answer.headers['x-goog-generation']}`
    // Where a connection is silent it ends by itself, and another goes on; this is the end of one that drips.
    const patience = { idleMs: 2 * store.patience.idleMs }
    return resumable(answer, given, patience, (position) =>
      goOn(store, name, generation, { start: position, end: given.end }),
    )
  })
}

/** The rest, of the same generation of the object. */
async function goOn(store: GcsStore, name: string, generation: string, rest: ByteRange): Promise<IncomingMessage> {
  const answer = await store.open(name, { ifGenerationMatch: generation }, headersFor(rest))
  if (!answer) throw trouble('an object went away while it was read')
  return orLetGo(answer, () => {
    if (!isRange(givenBytes(requireStored(answer)), rest)) throw trouble('the rest of an object was not given')
    return answer
  })
}

function orLetGo<T>(answer: IncomingMessage, use: () => T): T {
  try {
    return use()
  } catch (error) {
    answer.destroy()
    throw error
  }
}

/** That we take gzip keeps the store from unpacking what somebody put there packed: the bytes are given as they are. */
function headersFor(range: ByteRange | undefined) {
  return { 'accept-encoding': 'gzip', ...(range && { range: `bytes=${range.start}-${range.end}` }) }
}

/** What was packed only on its way to us is not what is stored. */
function requireStored(answer: IncomingMessage): IncomingMessage {
  const { 'content-encoding': given = 'identity', 'x-goog-stored-content-encoding': stored = 'identity' } =
    answer.headers
  if (given !== stored) throw trouble(`bytes are stored as ${stored} and were given as ${given}`)
  return answer
}

function trouble(what: string): ProviderError {
  return new ProviderError('unavailable', new Error(what))
}
