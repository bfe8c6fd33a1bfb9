// Exports receipts and the treasury statement as text, page by page: few rows are in memory, and a slow reader holds no
// database connection.

import { type Cell, csvLine } from '@svc/api/csv'
import type { Query } from '@svc/api/endpoint'
import type { exportReceipts as receiptsEndpoint } from '@svc/api/operations'
import { isoSeconds } from '@svc/protocol/evidence'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { Answer, JsonStream } from '@svc/service/http/answer'
import { type Context, unixNow } from '../../context.ts'
import type { Db, RefundTable } from '../../db/schema.ts'
import { readRange, type TimeRange } from './ranges.ts'
import { displayedAmount, quotedUsd } from './sales.ts'
import { pageOfReceipts, refundsBetween, type SoldReceipt } from './sales-store.ts'

const PAGE = 500
const ALL_DAYS = 1_000_000

export function exportReceipts(context: Context, { format = 'jsonl', ...query }: Query<typeof receiptsEndpoint>) {
  const pages = receiptPages(context.database.db, textRange(context, query))
  return format === 'csv'
    ? attachment(csv(RECEIPT_COLUMNS, pages, receiptCells), 'receipts.csv', 'text/csv; charset=utf-8')
    : attachment(jsonLines(pages), 'receipts.jsonl')
}

export function exportTreasury(context: Context, query: TimeRange) {
  const { db } = context.database
  return attachment(csv(TREASURY_COLUMNS, movements(db, textRange(context, query)), treasuryCells), 'treasury.csv')
}

function attachment(pieces: AsyncIterable<string>, name: string, type?: string): Answer<JsonStream<string>> {
  const headers = { 'content-disposition': `attachment; filename="${name}"` }
  return new Answer(200, new JsonStream<string>(pieces), { ...headers, ...(type && { 'content-type': type }) })
}

interface TextRange {
  from: string
  to: string
}

/** Everything by default, including receipts without a time. */
function textRange(context: Context, query: TimeRange): TextRange {
  const { from, to } = readRange(query, { now: unixNow(context), defaultDays: ALL_DAYS })
  return { from: query.from === undefined ? '' : isoSeconds(from), to: isoSeconds(to) }
}

async function* receiptPages(db: Db, range: TextRange): AsyncGenerator<SoldReceipt[]> {
  for (let after: { confirmedAt: string; receiptId: string } | null = null; ; ) {
    const page = await pageOfReceipts(db, { ...range, after, limit: PAGE })
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = { confirmedAt: last.confirmed_at, receiptId: last.receipt_id }
  }
}

async function* jsonLines(pages: AsyncIterable<SoldReceipt[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map(({ receipt }) => `${receipt}\n`).join('')
}

async function* csv<Row>(
  columns: readonly string[],
  pages: AsyncIterable<Row[]>,
  cellsOf: (row: Row) => Cell[],
): AsyncGenerator<string> {
  yield csvLine(columns)
  for await (const page of pages) yield page.map((row) => csvLine(cellsOf(row))).join('')
}

const RECEIPT_COLUMNS = [
  'confirmed_at',
  'receipt_id',
  'pay_req_id',
  'extends',
  'network',
  'tx_hash',
  'payer_pubkey',
  'pay_asset',
  'paid_raw',
  'paid_amount',
  'received_raw',
  'units',
  'provider',
  'price_usd',
]

function receiptCells(row: SoldReceipt): Cell[] {
  const receipt = JSON.parse(row.receipt) as SignedReceipt
  return [
    receipt.confirmed_at,
    receipt.receipt_id,
    receipt.pay_req_id,
    receipt.extends,
    receipt.network,
    receipt.tx_hash,
    receipt.payer_pubkey,
    receipt.pay_asset,
    receipt.paid_raw,
    receipt.paid_amount,
    receipt.received_raw,
    receipt.units,
    row.provider,
    quotedUsd(row),
  ]
}

const TREASURY_COLUMNS = [
  'time',
  'kind',
  'network',
  'asset',
  'amount_raw',
  'amount',
  'tx',
  'payer',
  'receipt_id',
  'price_usd',
  'refund_tx',
  'decided_by',
  'reason',
]

type Movement = { sale: SoldReceipt } | { refund: RefundTable }

/** Sales and refunds in order of time. Refunds are few. */
async function* movements(db: Db, range: TextRange): AsyncGenerator<Movement[]> {
  const refunds = await refundsBetween(db, range.from, range.to)
  for await (const page of receiptPages(db, range)) {
    yield page.flatMap((sale): Movement[] => {
      const earlier = refunds.findIndex(({ decided_at }) => decided_at > sale.confirmed_at)
      const before = refunds.splice(0, earlier === -1 ? refunds.length : earlier)
      return [...before.map((refund) => ({ refund })), { sale }]
    })
  }
  yield refunds.map((refund) => ({ refund }))
}

function treasuryCells(movement: Movement): Cell[] {
  if ('refund' in movement) {
    const { decided_at, network, asset, amount, tx, refund_tx, decided_by, reason } = movement.refund
    const kind = refund_tx === null ? 'refund decided' : 'refund'
    const shown = displayedAmount(network, asset, amount)
    return [decided_at, kind, network, asset, amount, shown, tx, '', '', '', refund_tx, decided_by, reason]
  }
  const { sale } = movement
  const receipt = JSON.parse(sale.receipt) as SignedReceipt
  return [
    receipt.confirmed_at,
    receipt.extends === undefined ? 'purchase' : 'renewal',
    receipt.network,
    receipt.pay_asset,
    receipt.paid_raw,
    receipt.paid_amount,
    receipt.tx_hash,
    receipt.payer_pubkey,
    receipt.receipt_id,
    quotedUsd(sale),
    '',
    '',
    '',
  ]
}
