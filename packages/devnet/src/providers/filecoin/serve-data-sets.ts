import { json } from 'node:stream/consumers'
import type { Hex } from 'viem'
import type { Exchange } from '../http/exchange.ts'
import { type Chain, Revert } from './chain.ts'
import { readContentId } from './content-id.ts'
import type { Pieces } from './pieces.ts'

/** `/pdp/data-sets…`: what the provider brings to the contract for others. */
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
    if (method === 'GET' && dataSet && transaction) return tell(transaction)
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
    const bytes = readContentId(text)
    if (!bytes || !pieces.find(text)) return exchange.answer(400, {}, 'Failed to transform add pieces request')
    const { hash } = await chain.addPiece(id, { text, bytes }, body.extraData)
    exchange.answer(201, { location: `/pdp/data-sets/${id}/pieces/added/${hash}` })
  }

  function tell(hash: string): void {
    chain.moveOn()
    const found = chain.transactions.get(hash)
    if (!found) return void exchange.answer(404)
    const { status, dataSet } = found
    const isAdded = status === 'confirmed'
    const said = { txHash: hash, txStatus: status, dataSetId: Number(dataSet), pieceCount: 1, piecesAdded: isAdded }
    exchange.answer(200, {}, JSON.stringify({ ...said, addMessageOk: status === 'pending' ? null : isAdded }))
  }
}
