import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { givenBytes, isRange } from '../http/answer.ts'
import { resumable } from '../http/resumable.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { pastTheEnd, requireRange } from '../range.ts'
import { Refusal } from './errors.ts'
import type { Store } from './bucket.ts'

export async function readObject(store: Store, key: string, range: ByteRange | undefined): Promise<Readable | null> {
  if (range) requireRange(range)
  const answer = await open(store, key, range, {})
  if (!answer) return null
  const { start, end } = givenBytes(answer)
  const isSame = answer.headers.etag ? { 'if-match': answer.headers.etag } : {}
  return resumable(answer, { start, end }, store.patience, async (position) => {
    const next = await open(store, key, { start: position, end }, isSame)
    if (next) return next
    throw new ProviderError('unavailable', new Error('an object went away while it was read'))
  })
}

/** All of an object, or exactly the range; null when there is no such object. */
async function open(store: Store, key: string, range: ByteRange | undefined, headers: Record<string, string>) {
  const asked: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {}
  const answer = await find(store, key, { ...headers, ...asked })
  if (!answer) return null
  try {
    requireBytes(answer, range)
    return answer
  } catch (error) {
    answer.destroy()
    throw error
  }
}

async function find(store: Store, key: string, headers: Record<string, string>): Promise<IncomingMessage | null> {
  try {
    return await store.open({ method: 'GET', key, headers })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'NoSuchKey') return null
    if (error instanceof Refusal && error.status === 416) throw pastTheEnd()
    throw error
  }
}

/** A range that goes past the end of an object is cut there by the store. */
function requireBytes(answer: IncomingMessage, range: ByteRange | undefined): void {
  const given = givenBytes(answer)
  if (isRange(given, range ?? { start: 0, end: given.total - 1 })) return
  if (range && given.start === range.start && given.end < range.end) throw pastTheEnd()
  throw new ProviderError('unavailable', new Error('the store gave other bytes than it was asked for'))
}
