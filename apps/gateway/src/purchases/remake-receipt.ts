// A receipt that the database has lost together with its quote. The logbook noted what was sold, and whoever confirms
// brings the ids, of which it has a hash (T-180). No chain is asked: nodes forget old transactions.

import type { X402Leg } from '@svc/api/x402'
import { ServiceError } from '@svc/http-service/service-error'
import type { ChainPayment } from '@svc/payments/payment'
import { isoSeconds } from '@svc/protocol/evidence'
import { quotedLeg } from '@svc/sales/read-payment'
import type { Context } from '../context.ts'
import { parseSale, type Sale } from '../continuity/sale.ts'
import type { LostReceiptTable } from '../db/schema.ts'
import { findLocker } from '../lockers/store.ts'
import type { Claim } from './claim-payments.ts'
import { newReceipt } from './new-receipt.ts'
import { type PayRequest, restorePayRequest } from './store.ts'

/** Null where the logbook noted no more than the payment. */
export async function remadeClaim(context: Context, payReqId: string, lost: LostReceiptTable): Promise<Claim | null> {
  const sale = lost.sale === null ? null : parseSale(lost.sale)
  if (!sale) return null
  const request = soldRequest(payReqId, sale, await renewedReceipt(context, sale))
  const payment = paymentOf(lost, sale)
  const receipt = await newReceipt(context, request, quotedLeg(legOf(payReqId, sale)), payment)
  const { authorization } = sale
  return {
    receipt,
    request,
    payment,
    ...(authorization !== undefined && { authorization }),
    beforehand: (tx) => restorePayRequest(tx, request),
  }
}

async function renewedReceipt({ database }: Context, { renews }: Sale): Promise<string | null> {
  if (renews === undefined) return null
  const locker = await findLocker(database.db, renews)
  if (locker) return locker.receipt_id
  throw new ServiceError('locker_not_found', 'the locker that this payment renews is not in this database', {
    hint: 'confirm the payment of the locker itself again and open it; then repeat this',
  })
}

/** A payment counts from when it was confirmed first. */
export function paymentOf(
  { tx, confirmed_at }: Pick<LostReceiptTable, 'tx' | 'confirmed_at'>,
  sale: Sale,
): ChainPayment {
  return {
    outcome: 'found',
    tx,
    payer: sale.payer,
    received: BigInt(sale.received),
    height: sale.height,
    blockTime: confirmed_at,
    references: [],
    authorizations: sale.authorization === undefined ? [] : [sale.authorization],
  }
}

function legOf(payReqId: string, { leg }: Sale): X402Leg {
  return { ...leg, extra: { ...leg.extra, pay_req_id: payReqId } }
}

/** The quote as far as a paid one is read: it cannot be paid again. `renewed`: the receipt of a locker that was renewed. */
export function soldRequest(payReqId: string, sale: Sale, renewed: string | null): PayRequest {
  const { provider, units, createdAt, expiresAt, url, terms, renews } = sale
  const quote = {
    x402Version: 2,
    resource: { url },
    accepts: [legOf(payReqId, sale)],
    extensions: {
      svc: {
        terms,
        info: { flow: 'pay-then-confirm', pay_req_id: payReqId, expires_at: isoSeconds(expiresAt) },
        ...(renewed !== null && { renewal: { receipt_id: renewed, locker_id: renews } }),
      },
    },
  }
  return {
    pay_req_id: payReqId,
    created_at: createdAt,
    expires_at: expiresAt,
    provider,
    units,
    quote: JSON.stringify(quote),
  }
}
