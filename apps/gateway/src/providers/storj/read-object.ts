import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { resumable } from '../http/resumable.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { Refusal } from './refusal.ts'
import type { Store } from './store.ts'

export async function readObject(store: Store, key: string, range: ByteRange | undefined): Promise<Readable | null> {
  if (range && !(range.start >= 0 && range.start <= range.end)) throw notWithin()
  const answer = await open(store, key, range && headersFor(range))
  if (!answer) return null
  const length = Number(answer.headers['content-length'])
  const { start, end } = range ?? { start: 0, end: length - 1 }
  try {
    requireBytes(answer, { start, end })
  } catch (error) {
    answer.destroy()
    throw error
  }
  const isSame = answer.headers.etag ? { 'if-match': answer.headers.etag } : {}
  return resumable(answer, start, store.patience, async (position) => {
    const rest = { start: position, end }
    const next = await open(store, key, { ...isSame, ...headersFor(rest) })
    if (!next) throw new ProviderError('unavailable', new Error('an object went away while it was read'))
    requireBytes(next, rest)
    return next
  })
}

/** Null when there is no such object. */
async function open(store: Store, key: string, headers = {}): Promise<IncomingMessage | null> {
  try {
    return await store.open({ method: 'GET', key, headers })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'NoSuchKey') return null
    if (error instanceof Refusal && error.status === 416) throw notWithin()
    throw error
  }
}

function headersFor({ start, end }: ByteRange) {
  return { range: `bytes=${start}-${end}` }
}

/** A range that goes past the end of an object is cut there by the store. */
function requireBytes({ statusCode, headers }: IncomingMessage, { start, end }: ByteRange): void {
  const isWhole = statusCode !== 206
  const isAsked = Number(headers['content-length']) === end - start + 1
  if (isAsked && (!isWhole || start === 0)) return
  throw isWhole ? new ProviderError('unavailable', new Error('the store gave all in place of a range')) : notWithin()
}

function notWithin(): RangeError {
  return new RangeError('the range is not within the object')
}
