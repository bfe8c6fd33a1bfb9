import type { Agent, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { exchange } from '../http/exchange.ts'
import { retrying } from '../timeouts.ts'
import { resumable } from '../http/resumable.ts'
import { BUFFERING } from '../http/socket.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { requireRange } from '../range.ts'
import type { Patience } from './patience.ts'
import { lengthOf, type Piece } from './piece.ts'

/** Where pieces are, one after the other: the provider is the last, and its word counts. */
export type Places = readonly [...Place[], Place]

interface Place {
  /** `/` and a content id come after it. */
  url: string
  agent: Agent
  patience: Patience
}

/** Null when the provider does not have it. */
export async function readPiece(places: Places, piece: Piece, range?: ByteRange): Promise<Readable | null> {
  const { start, end } = range ?? { start: 0, end: piece.size - 1 }
  if (range) requireRange(range, piece.size)
  if (piece.size === 0) return (await findPiece(places, piece)) && Readable.from([], { objectMode: false })
  return firstOf(places, async (place) => {
    const first = await open(place, piece, { start, end })
    if (first === null) return null
    const isAll = first.statusCode === 200
    const given = isAll ? { start: 0, end: lengthOf(piece) - 1 } : { start, end }
    const stream = resumable(first, given, place.patience, async (position) => {
      const next = await open(place, piece, { start: position, end: given.end })
      if (next?.statusCode === 206) return next
      next?.destroy()
      throw trouble('a piece cannot be read on where it broke off')
    })
    return isAll && end - start + 1 < lengthOf(piece) ? partOf(stream, { start, end }) : stream
  })
}

/** Null when the provider does not have it. */
export async function findPiece(places: Places, piece: Piece): Promise<{ size: number } | null> {
  return firstOf(places, async (place) => {
    const answer = await ask(place, 'HEAD', piece)
    answer.resume()
    if (answer.statusCode === 404) return null
    if (answer.statusCode !== 200 || !isWhole(answer, piece)) throw unexpected(answer)
    return { size: piece.size }
  })
}

async function firstOf<T>(places: Places, look: (place: Place) => Promise<T | null>): Promise<T | null> {
  for (const place of places.slice(0, -1)) {
    const seen = await look(place).catch(() => null)
    if (seen !== null) return seen
  }
  return look(places.at(-1) as Place) // there is one
}

/** The range, or all where that is asked for, or where ranges are not known. */
async function open(place: Place, piece: Piece, { start, end }: ByteRange) {
  const length = lengthOf(piece)
  const isAll = start === 0 && end === length - 1
  const answer = await ask(place, 'GET', piece, isAll ? {} : { range: `bytes=${start}-${end}` })
  const { statusCode, headers } = answer
  const isRange =
    statusCode === 206 && isPlain(answer) && headers['content-range'] === `bytes ${start}-${end}/${length}`
  if (isRange || (statusCode === 200 && isWhole(answer, piece))) return answer
  answer.destroy()
  if (statusCode === 404) return null
  throw unexpected(answer)
}

/** The answer, unless the trouble may pass and does not. */
async function ask({ url, agent, patience }: Place, method: string, { cid }: Piece, headers = {}) {
  const once = async () => {
    const { answer } = await exchange({ method, url: `${url}/${cid}`, headers }, null, agent, patience)
    if ((answer.statusCode ?? 500) < 500 && answer.statusCode !== 429) return answer
    answer.destroy()
    throw unexpected(answer)
  }
  return retrying(patience, once, () => true)
}

/** As far as it says: what comes in chunks does not tell its length. */
function isWhole(answer: IncomingMessage, piece: Piece): boolean {
  return isPlain(answer) && Number(answer.headers['content-length'] ?? lengthOf(piece)) === lengthOf(piece)
}

function isPlain({ headers }: IncomingMessage): boolean {
  return (headers['content-encoding'] ?? 'identity') === 'identity'
}

/** The one ends with the other. */
function partOf(whole: Readable, { start, end }: ByteRange): Readable {
  async function* part(): AsyncGenerator<Buffer> {
    let position = 0
    for await (const chunk of whole as AsyncIterable<Buffer>) {
      const wanted = chunk.subarray(Math.max(0, start - position), end + 1 - position)
      position += chunk.length
      if (wanted.length > 0) yield wanted
      if (position > end) return
    }
    throw trouble('a piece ended before its end')
  }
  return Readable.from(part(), { objectMode: false, ...BUFFERING })
}

function unexpected({ statusCode, headers }: IncomingMessage): ProviderError {
  const reason = statusCode === 401 || statusCode === 402 || statusCode === 403 ? 'closed' : 'unavailable'
  const length = headers['content-range'] ?? headers['content-length']
  return new ProviderError(reason, new Error(`a piece was answered for with ${statusCode} and ${length} bytes`))
}

function trouble(what: string): ProviderError {
  return new ProviderError('unavailable', new Error(what))
}
