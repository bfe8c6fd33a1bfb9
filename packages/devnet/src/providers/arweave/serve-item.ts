import { rm } from 'node:fs/promises'
import type { Exchange } from '../http/exchange.ts'
import { receive } from '../storj/receive.ts'
import { answerJson, type Desk } from './desk.ts'
import { verifyItem } from './verify-item.ts'

/** POST of a whole item. */
export async function takeItem(exchange: Exchange, desk: Desk): Promise<void> {
  const { items } = desk
  const { path } = await receive(exchange, desk.newPath())
  desk.received(exchange)
  const item = await verifyItem(path)
  if (!item || items.has(item.id)) await rm(path)
  if (!item) return answerJson(exchange, 400, { error: 'Invalid Data Item!' })
  if (items.has(item.id)) return answerJson(exchange, 202, { error: 'Data item exists' })
  if (!desk.mayPay(item.owner)) return answerJson(exchange, 402, { error: 'Insufficient balance' })
  items.keep(path, item)
  answerJson(exchange, 200, { id: item.id, winc: '1', dataCaches: [], fastFinalityIndexes: [] })
}

export function tellItem(exchange: Exchange, { items, isSealing }: Desk, id: string): void {
  const item = items.find(id)
  const status = item?.hasFailed ? 'FAILED' : isSealing() ? 'FINALIZED' : 'CONFIRMED'
  if (item) answerJson(exchange, 200, { status, winc: '1' })
  else exchange.answer(404, {}, "TX doesn't exist")
}
