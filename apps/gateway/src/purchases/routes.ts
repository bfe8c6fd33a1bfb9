import { giveCoins } from '@svc/api/dev-chains'
import * as internal from '@svc/api/internal'
import * as payment from '@svc/api/payment'
import { confirmStorage, price, requestStorage } from '@svc/api/purchases'
import * as receipts from '@svc/api/receipts'
import * as sponsored from '@svc/api/sponsored'
import * as x402 from '@svc/api/x402'
import { findPayment, paymentOutcome, preparePayment, sendPayment } from '@svc/payments/selling/pay-from-page'
import { JsonText } from '@svc/service/http/answer'
import { serve, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../context.ts'
import { giveLocalCoins } from './dev-faucet.ts'
import { showPrice } from './prices.ts'
import { buyWithCredential, confirmWithCredential } from './protocols/mpp.ts'
import { pageSeller } from './protocols/page.ts'
import { watchPayment } from './protocols/solana-pay/watch.ts'
import { confirmSponsored, confirmSponsoredBatch, requireSponsor } from './protocols/sponsored.ts'
import { confirmPayment } from './protocols/transaction.ts'
import { buyStorage } from './protocols/x402/buy.ts'
import { listBought } from './protocols/x402/list-bought.ts'
import { requestQuote } from './quote.ts'
import { findByTransaction, readReceiptText, verifyReceipt } from './receipts.ts'
import { summarizeTreasury } from './treasury.ts'
import { verifyPayment } from './verify-payment.ts'

export function purchaseRoutes(service: Service, context: Context): void {
  const { auth } = context
  serve(service, price, ({ query }) => showPrice(context, query))
  serve(
    service,
    requestStorage,
    async ({ body, wire }) => (await buyWithCredential(context, body, wire)) ?? requestQuote(context, body, wire),
  )
  serve(
    service,
    confirmStorage,
    async ({ body, wire }) => (await confirmWithCredential(context, body, wire)) ?? confirmPayment(context, body, wire),
  )
  serve(service, x402.buyStorage, ({ body, wire }) => buyStorage(context, body, wire))
  serve(service, x402.listBought, ({ query, wire }) => listBought(context, auth.callers, query, wire))

  const seller = pageSeller(context)
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
  const { localChains } = context
  if (localChains) serve(service, giveCoins, ({ body, wire }) => giveLocalCoins(context, localChains, body, wire))

  const sponsor = (wire: WireRequest) => requireSponsor(auth, wire)
  serveKnown(service, sponsored.sponsoredConfirm, sponsor, ({ body }) => confirmSponsored(context, body))
  serveKnown(service, sponsored.sponsoredConfirmBatch, sponsor, ({ body }) => confirmSponsoredBatch(context, body))

  const { isInternalCaller } = auth
  serveKnown(service, internal.treasurySummary, isInternalCaller, () => summarizeTreasury(context))
  serveKnown(service, internal.findReceipts, isInternalCaller, ({ query }) => findByTransaction(context, query.tx))
}
