import type { Agent, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { cutRange, isIdentity, rangeHeader } from '../http/byte-ranges.ts'
import { exchange } from '../http/exchange.ts'
import { resumable } from '../http/resumable.ts'
import { requireRange } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { type HttpTimeouts, withRetries } from '../timeouts.ts'
import { lengthOf, type Piece } from './piece.ts'

/** Where pieces are read, in this order: the provider is the last, and its answer is decisive. */
export type Locations = readonly [...Location[], Location]

interface Location {
  /** `/` and a content id are appended. */
  url: string
  agent: Agent
  timeouts: HttpTimeouts
}

/** Null when the provider does not have it. */
export async function readPiece(locations: Locations, piece: Piece, range?: ByteRange): Promise<Readable | null> {
  const { start, end } = range ?? { start: 0, end: piece.size - 1 }
  if (range) requireRange(range, piece.size)
  if (piece.size === 0) return (await findPiece(locations, piece)) && Readable.from([], { objectMode: false })
  return firstOf(locations, async (location) => {
    const first = await open(location, piece, { start, end })
    if (first === null) return null
    const isWholePiece = first.statusCode === 200
    const bytes = isWholePiece ? { start: 0, end: lengthOf(piece) - 1 } : { start, end }
    const stream = resumable(first, bytes, location.timeouts, async (position) => {
      const next = await open(location, piece, { start: position, end: bytes.end })
      if (next?.statusCode === 206) return next
      next?.destroy()
      throw new ProviderError('unavailable', 'a piece cannot be resumed where it broke off')
    })
    return isWholePiece && end - start + 1 < lengthOf(piece) ? cutRange(stream, { start, end }) : stream
  })
}

/** Null when the provider does not have it. */
export async function findPiece(locations: Locations, piece: Piece): Promise<{ size: number } | null> {
  return firstOf(locations, async (location) => {
    const answer = await ask(location, 'HEAD', piece)
    answer.resume()
    if (answer.statusCode === 404) return null
    if (answer.statusCode !== 200 || !hasWholePiece(answer, piece)) throw unexpectedAnswer(answer)
    return { size: piece.size }
  })
}

async function firstOf<Result>(
  locations: Locations,
  ask: (location: Location) => Promise<Result | null>,
): Promise<Result | null> {
  for (const location of locations.slice(0, -1)) {
    const found = await ask(location).catch(() => null)
    if (found !== null) return found
  }
  return ask(locations.at(-1) as Location) // there is one
}

/** The range; or the whole piece when that is the range, or when the server does not support ranges. */
async function open(location: Location, piece: Piece, range: ByteRange): Promise<IncomingMessage | null> {
  const { start, end } = range
  const length = lengthOf(piece)
  const isWholeRange = start === 0 && end === length - 1
  const answer = await ask(location, 'GET', piece, isWholeRange ? {} : rangeHeader(range))
  const { statusCode, headers } = answer
  const isRange =
    statusCode === 206 && isIdentity(answer) && headers['content-range'] === `bytes ${start}-${end}/${length}`
  if (isRange || (statusCode === 200 && hasWholePiece(answer, piece))) return answer
  answer.destroy()
  if (statusCode === 404) return null
  throw unexpectedAnswer(answer)
}

async function ask({ url, agent, timeouts }: Location, method: string, { cid }: Piece, headers = {}) {
  return withRetries(timeouts, async () => {
    const { answer } = await exchange({ method, url: `${url}/${cid}`, headers }, agent, timeouts)
    if (!isRetryable(answer)) return answer
    answer.destroy()
    throw unexpectedAnswer(answer)
  })
}

function isRetryable({ statusCode = 500 }: IncomingMessage): boolean {
  return statusCode >= 500 || statusCode === 429
}

/** Also true for a chunked answer, which states no length. */
function hasWholePiece(answer: IncomingMessage, piece: Piece): boolean {
  return isIdentity(answer) && Number(answer.headers['content-length'] ?? lengthOf(piece)) === lengthOf(piece)
}

function unexpectedAnswer(answer: IncomingMessage): ProviderError {
  const { statusCode: status = 0, headers } = answer
  const length = headers['content-range'] ?? headers['content-length']
  return new ProviderError(
    [401, 402, 403].includes(status) ? 'closed' : 'unavailable',
    `a piece was answered with ${status} and ${length} bytes`,
    { isRetryable: isRetryable(answer), answer: { status } },
  )
}
