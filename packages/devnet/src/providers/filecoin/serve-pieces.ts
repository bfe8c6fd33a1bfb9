import { json } from 'node:stream/consumers'
import type { Exchange } from '../http/exchange.ts'
import type { Pieces } from './pieces.ts'

/** `/pdp/piece…`: looking for pieces, and bringing them. */
export async function servePieces(exchange: Exchange, pieces: Pieces): Promise<void> {
  const { method, url, body } = exchange
  const upload = /^\/pdp\/piece\/uploads\/([0-9a-f-]+)$/.exec(url.pathname)?.[1]
  if (method === 'GET' && url.pathname === '/pdp/piece') {
    const pieceCid = url.searchParams.get('pieceCid') ?? ''
    return pieces.isReady(pieceCid) ? exchange.answer(200, {}, JSON.stringify({ pieceCid })) : exchange.answer(404)
  }
  if (method === 'POST' && url.pathname === '/pdp/piece/uploads') {
    return exchange.answer(201, { location: `/pdp/piece/uploads/${pieces.begin()}` })
  }
  if (method === 'PUT' && upload) return exchange.answer((await pieces.receive(upload, body)) ? 204 : 404)
  if (method === 'POST' && upload) {
    const { pieceCid } = (await json(body)) as { pieceCid: string }
    const outcome = pieces.finish(upload, pieceCid)
    return exchange.answer(outcome === null ? 404 : outcome ? 200 : 400)
  }
  exchange.answer(404)
}

/** `/piece/{cid}`. */
export async function serveRetrieval(exchange: Exchange, pieces: Pieces, ignoresRanges: boolean): Promise<void> {
  const { method, url, headers } = exchange
  const piece = pieces.find(url.pathname.slice('/piece/'.length))
  if (!piece) return exchange.answer(404)
  if (method === 'HEAD') return exchange.answer(200, { 'content-length': piece.size })
  const [, first, last] = (!ignoresRanges && /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '')) || []
  const start = Number(first ?? 0)
  const end = Math.min(Number(last ?? piece.size), piece.size - 1)
  if (start > end) return exchange.answer(416)
  const range = first === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${piece.size}` }
  const answer = { 'content-length': end - start + 1, ...range }
  await exchange.give(first === undefined ? 200 : 206, answer, pieces.read(piece, start, end))
}
