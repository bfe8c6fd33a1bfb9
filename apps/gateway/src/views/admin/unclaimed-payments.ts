// The list of payments to return: each recorded payment with the receipts and refunds since then (T-205).

import type { Query } from '@svc/api/endpoint'
import type { UnclaimedPayment, unclaimedPayments } from '@svc/api/operations'
import { displayAmount } from '@svc/payments/amounts'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { ValidationError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import type { Db, UnclaimedPaymentTable } from '../../db/schema.ts'
import { claimedAmount, findReceiptOfRequest, findRefunds } from '../../purchases/store.ts'
import { pageOfUnclaimed, type UnclaimedPosition } from '../../purchases/unclaimed/store.ts'
import { legsOn, refundedIn, shownRefund } from './payments.ts'
import { findPayment } from './store.ts'

const PAGE = 100
/** The most rows that one request reads: returned payments stay in the table. */
const MAX_READ = 500

export async function listUnclaimed(
  context: Context,
  { state = 'due', limit = PAGE, cursor }: Query<typeof unclaimedPayments>,
): Promise<{ payments: UnclaimedPayment[]; next_cursor?: string }> {
  const { db } = context.database
  const found = await pageOfUnclaimed(db, cursor === undefined ? null : positionIn(cursor), MAX_READ + 1)
  const payments: UnclaimedPayment[] = []
  let last: UnclaimedPaymentTable | undefined
  for (const row of found.slice(0, MAX_READ)) {
    if (payments.length === limit) break
    const payment = await shown(context, db, row)
    if (state === 'all' || payment.state === 'open' || payment.state === 'refund_decided') payments.push(payment)
    last = row
  }
  const isMore = last !== undefined && last !== found.at(-1)
  return { payments, ...(isMore && last && { next_cursor: cursorOf(last) }) }
}

function cursorOf({ noted_at, tx, asset }: UnclaimedPosition): string {
  return toBase64Url(utf8(`${noted_at} ${tx} ${asset}`))
}

function positionIn(cursor: string): UnclaimedPosition {
  const bytes = fromBase64Url(cursor)
  const [, noted_at, tx, asset] = /^([0-9TZ:.-]+) (\w+) (\w+)$/.exec((bytes && fromUtf8(bytes)) ?? '') ?? []
  if (noted_at !== undefined && tx !== undefined && asset !== undefined) return { noted_at, tx, asset }
  throw new ValidationError({ loc: ['query', 'cursor'], msg: 'must be an unchanged next_cursor' })
}

async function shown(context: Context, db: Db, payment: UnclaimedPaymentTable): Promise<UnclaimedPayment> {
  const { network, tx, asset, pay_req_id, reason, payer, received, noted_at } = payment
  const claim = await findPayment(db, network, tx)
  // If the claim has several authorizations, each is another payment.
  const claimed = claim?.kind === 'authorizations' ? 0n : await claimedAmount(db, { network, tx, asset })
  const refunds = (await findRefunds(db, { network, tx })).filter((refund) => refund.asset === asset)
  const refunded = refundedIn(asset, refunds)
  const left = BigInt(received) - claimed - refunded
  const receipt = await findReceiptOfRequest(db, pay_req_id)
  const decimals = legsOn(context, network).find(({ of }) => of.ticker === asset)?.of.decimals ?? 0
  return {
    network,
    tx,
    asset,
    pay_req_id,
    reason,
    state: stateOf(left, refunds),
    payer,
    received_raw: received,
    received_amount: displayAmount(BigInt(received), decimals),
    claimed_raw: String(claimed),
    refunded_raw: String(refunded),
    left_raw: String(left > 0n ? left : 0n),
    refunds: refunds.map(shownRefund),
    receipt: receipt && { receipt_id: receipt.receipt_id, network: receipt.network, tx: receipt.tx_hash },
    noted_at,
  }
}

function stateOf(left: bigint, refunds: readonly { refund_tx: string | null }[]): UnclaimedPayment['state'] {
  if (left > 0n) return 'open'
  if (refunds.some(({ refund_tx }) => refund_tx === null)) return 'refund_decided'
  return refunds.length > 0 ? 'refunded' : 'claimed'
}
