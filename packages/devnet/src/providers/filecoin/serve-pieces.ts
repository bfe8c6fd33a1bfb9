// The provider's HTTP interface: pieces, their uploads, and the data sets that the provider keeps on the contract.

import { json } from 'node:stream/consumers'
import type { Hex } from 'viem'
import type { Exchange } from '../http/exchange.ts'
import { type Chain, Revert } from './chain.ts'
import { readContentId } from './commitment.ts'
import type { Pieces } from './pieces.ts'

/** `/pdp/piece…`: finding and uploading pieces. */
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
  await exchange.answerStream(first === undefined ? 200 : 206, answer, pieces.read(piece, start, end))
}

/** `/pdp/data-sets…`: transactions that the provider sends to the contract for its clients. */
export async function serveDataSets(
  exchange: Exchange,
  chain: Chain,
  pieces: Pieces,
  recordKeeper: string,
): Promise<void> {
  const { method, url } = exchange
  const [, dataSet, transaction] = /^\/pdp\/data-sets\/(\d+)\/pieces(?:\/added\/(0x\w+))?$/.exec(url.pathname) ?? []
  try {
    if (method === 'POST' && url.pathname === '/pdp/data-sets') return await create()
    if (method === 'POST' && dataSet && !transaction) return await add(BigInt(dataSet))
    if (method === 'GET' && dataSet && transaction) return serveStatus(transaction)
    exchange.answer(404)
  } catch (error) {
    if (!(error instanceof Revert)) throw error
    exchange.answer(500, {}, `Failed to send transaction: message execution failed (vm error=[${error.data}])`)
  }

  async function create(): Promise<void> {
    const body = (await json(exchange.body)) as { recordKeeper: string; extraData: Hex }
    if (body.recordKeeper.toLowerCase() !== recordKeeper.toLowerCase()) return exchange.answer(403)
    const { hash } = await chain.createDataSet(body.extraData)
    exchange.answer(201, { location: `/pdp/data-sets/created/${hash}` })
  }

  async function add(id: bigint): Promise<void> {
    const body = (await json(exchange.body)) as { pieces: { pieceCid: string }[]; extraData: Hex }
    const text = body.pieces[0]?.pieceCid ?? ''
    const [bytes, piece] = [readContentId(text), pieces.find(text)]
    if (!bytes || !piece) return exchange.answer(400, {}, 'Failed to transform add pieces request')
    const { hash } = await chain.addPiece(id, { text, bytes, size: piece.size }, body.extraData)
    exchange.answer(201, { location: `/pdp/data-sets/${id}/pieces/added/${hash}` })
  }

  function serveStatus(hash: string): void {
    chain.moveOn()
    const found = chain.transactions.get(hash)
    if (!found) return void exchange.answer(404)
    const { status, dataSet } = found
    const isAdded = status === 'confirmed'
    const summary = { txHash: hash, txStatus: status, dataSetId: Number(dataSet), pieceCount: 1, piecesAdded: isAdded }
    exchange.answer(200, {}, JSON.stringify({ ...summary, addMessageOk: status === 'pending' ? null : isAdded }))
  }
}
