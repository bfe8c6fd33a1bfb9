// Data items that the upload service accepted.

import { rm } from 'node:fs/promises'
import { type Exchange, receiveFile } from '../http/exchange.ts'
import { type VerifiedItem, verifyItem } from './verify-item.ts'

export interface Item extends VerifiedItem {
  path: string
  /** How often it was paid for. */
  paid: number
  hasFailed: boolean
}

export interface Items {
  find(id: string): Item | null
  list(): Item[]
  /** Whether it holds the item and would not accept it again. */
  has(id: string): boolean
  keep(path: string, item: VerifiedItem): void
}

export function createItems(): Items {
  const items = new Map<string, Item>()
  return {
    find: (id) => items.get(id) ?? null,
    list: () => [...items.values()],
    has: (id) => items.get(id)?.hasFailed === false,
    keep(path, item) {
      const paid = (items.get(item.id)?.paid ?? 0) + 1
      items.set(item.id, { ...item, path, paid, hasFailed: false })
    },
  }
}

/** POST of a whole item. */
export async function acceptItem(exchange: Exchange, service: UploadService): Promise<void> {
  const { items } = service
  const { path } = await receiveFile(exchange, service.newPath())
  service.received(exchange)
  const item = await verifyItem(path)
  if (!item || items.has(item.id)) await rm(path)
  if (!item) return answerJson(exchange, 400, { error: 'Invalid Data Item!' })
  if (items.has(item.id)) return answerJson(exchange, 202, { error: 'Data item exists' })
  if (!service.pay(item.size)) return answerJson(exchange, 402, { error: 'Insufficient balance' })
  items.keep(path, item)
  answerJson(exchange, 200, { id: item.id, winc: '1', dataCaches: [], fastFinalityIndexes: [] })
}

export function serveItemStatus(exchange: Exchange, { items, isSealing }: UploadService, id: string): void {
  const item = items.find(id)
  const status = item?.hasFailed ? 'FAILED' : isSealing() ? 'FINALIZED' : 'CONFIRMED'
  if (item) answerJson(exchange, 200, { status, winc: '1' })
  else exchange.answer(404, {}, "TX doesn't exist")
}

/** What the parts of the upload service share. */
export interface UploadService {
  items: Items
  /** A path for incoming bytes. */
  newPath(): string
  /** Called when the body of a request has arrived completely. */
  received(exchange: Exchange): void
  /** Returns false, charging nothing, when the credit does not suffice. */
  pay(bytes: number): boolean
  /** Whether accepted items are final on the chain. */
  isSealing(): boolean
}

export function answerJson(exchange: Exchange, status: number, body: object): void {
  exchange.answer(status, { 'content-type': 'application/json' }, JSON.stringify(body))
}
