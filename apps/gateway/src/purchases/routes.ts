import { giveCoins } from '@svc/api/dev-chains'
import * as internal from '@svc/api/internal'
import * as payment from '@svc/api/payment'
import { price } from '@svc/api/purchases'
import * as receipts from '@svc/api/receipts'
import * as sponsored from '@svc/api/sponsored'
import { lru } from '@svc/concurrency/caches'
import { JsonText } from '@svc/http-service/answer'
import { serve, serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import {
  findPayment,
  type PageSeller,
  paymentOutcome,
  preparePayment,
  sendPayment,
} from '@svc/payments/selling/pay-from-page'
import { limitStranger } from '../auth/limits.ts'
import type { Auth } from '../auth/room.ts'
import type { PurchasesContext } from './context.ts'
import { showPrice } from './prices.ts'
import { watchPayment } from './protocols/solana-pay/watch-payment.ts'
import { findWatchedPayment } from './protocols/solana-pay/watch-payments.ts'
import { confirmSponsored, confirmSponsoredBatch } from './protocols/sponsored.ts'
import { findByTransaction, readReceiptText, verifyReceipt } from './receipts.ts'
import { requireForSale } from './renewal.ts'
import { findPayRequest, findReceiptOfRequest } from './store.ts'
import { summarizeTreasury } from './treasury.ts'
import { verifyPayment } from './verify-payment.ts'

/** The quote and its confirmation are served by the room `mpp`. */
export function purchaseRoutes(service: Service, auth: Auth, context: PurchasesContext): void {
  const seller = pageSeller(context)
  serve(service, price, ({ query }) => showPrice(context, query))
  serve(service, payment.preparePayment, ({ body, wire }) => preparePayment(seller, body, wire))
  serve(service, payment.sendPayment, ({ body, wire }) => sendPayment(seller, body, wire))
  serve(service, payment.paymentOutcome, ({ body, wire }) => paymentOutcome(seller, body, wire))
  serve(service, payment.watchPayment, ({ body, wire }) => watchPayment(context, body, wire))
  serve(service, payment.findPayment, ({ body, wire }) => findPayment(seller, body, wire))
  serve(
    service,
    receipts.readReceipt,
    async ({ params }) => new JsonText(await readReceiptText(context, params.receipt_id)),
  )
  serve(service, receipts.verifyReceipt, ({ params }) => verifyReceipt(context, params.receipt_id))
  serve(service, receipts.verifyPayment, ({ params, wire }) => verifyPayment(context, params.receipt_id, wire))
  const { devFaucet } = context
  if (devFaucet) serve(service, giveCoins, ({ body, wire }) => devFaucet(body, wire))

  const sponsor = (wire: WireRequest) => requireSponsor(auth, wire)
  serveKnown(service, sponsored.sponsoredConfirm, sponsor, ({ body }) => confirmSponsored(context, body))
  serveKnown(service, sponsored.sponsoredConfirmBatch, sponsor, ({ body }) => confirmSponsoredBatch(context, body))

  const { isInternalCaller } = auth
  serveKnown(service, internal.treasurySummary, isInternalCaller, () => summarizeTreasury(context))
  serveKnown(service, internal.findReceipts, isInternalCaller, ({ query }) => findByTransaction(context, query.tx))
}

/** Of quotes whose buyers wait for a payment by Solana Pay. */
const MAX_PASSED = 10_000

function pageSeller(context: PurchasesContext): PageSeller {
  const { db } = context.database
  return {
    ...context,
    limitStranger: (wire) => limitStranger(context, wire, null),
    findQuote: (payReqId) => findPayRequest(db, payReqId),
    findTransaction: async (payReqId) => (await findReceiptOfRequest(db, payReqId))?.tx_hash ?? null,
    requireForSale: ({ quote }) => requireForSale(context, JSON.parse(quote)),
    findWatched: (payReqId) => findWatchedPayment(context, payReqId),
    passed: lru(MAX_PASSED),
  }
}

async function requireSponsor({ sponsors }: Auth, { headers }: WireRequest): Promise<{ service: string }> {
  if (sponsors) return sponsors.verify(headers.authorization)
  throw new ServiceError('OIDC_TOKEN_INVALID', 'this gateway knows no identity provider of sponsors', {
    hint: 'its operator sets SPONSOR_OIDC_ISSUER and its companions; until then, use POST /v1/storage/confirm',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
