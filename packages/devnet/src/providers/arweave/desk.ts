import type { Exchange } from '../http/exchange.ts'
import type { Items } from './items.ts'

/** What the parts of the upload service share. */
export interface Desk {
  items: Items
  /** Where bytes may be written that are on their way. */
  newPath(): string
  /** The body of this request has come whole. */
  received(exchange: Exchange): void
  /** Whether the owner of an item has credit. */
  mayPay(owner: Buffer): boolean
  /** Whether what was taken is on the chain for good. */
  isSealing(): boolean
}

export function answerJson(exchange: Exchange, status: number, body: object): void {
  exchange.answer(status, { 'content-type': 'application/json' }, JSON.stringify(body))
}
