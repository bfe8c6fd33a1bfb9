import type { Query } from '@svc/api/endpoint'
import type { acceptedPayments as endpoint } from '@svc/api/operations'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ValidationError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { newestReceipts, type ReceiptPosition } from './sales-store.ts'

const PAGE = 100

export async function listAccepted(
  { database: { db } }: Context,
  { limit = PAGE, cursor }: Query<typeof endpoint>,
): Promise<{ receipts: SignedReceipt[]; next_cursor?: string }> {
  const found = await newestReceipts(db, cursor === undefined ? null : positionIn(cursor), limit + 1)
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    receipts: page.map(({ receipt }) => JSON.parse(receipt)),
    ...(last && { next_cursor: toBase64Url(utf8(`${last.confirmed_at} ${last.receipt_id}`)) }),
  }
}

function positionIn(cursor: string): ReceiptPosition {
  const bytes = fromBase64Url(cursor)
  const [, confirmed_at, receipt_id] =
    /^([0-9TZ:.-]*) (rcpt_[0-9a-f]{32})$/.exec((bytes && fromUtf8(bytes)) ?? '') ?? []
  if (confirmed_at !== undefined && receipt_id !== undefined) return { confirmed_at, receipt_id }
  throw new ValidationError({ loc: ['query', 'cursor'], msg: 'must be an unchanged next_cursor' })
}
