import * as purchases from '@svc/api/purchases'
import * as receipts from '@svc/api/receipts'
import { JsonText } from '@svc/http-service/answer'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { createConfirmPayment } from './confirm-payment.ts'
import { readReceiptText, verifyReceipt } from './receipts.ts'
import { createRequestQuote } from './request-quote.ts'
import { showPrice } from './show-price.ts'
import { verifyPayment } from './verify-payment.ts'

export function purchaseRoutes(service: Service, context: Context): void {
  const requestQuote = createRequestQuote(context)
  const confirmPayment = createConfirmPayment(context)
  serve(service, purchases.price, ({ query }) => showPrice(context, query))
  serve(service, purchases.requestStorage, ({ body, wire }) => requestQuote(body, wire))
  serve(service, purchases.confirmStorage, ({ body, wire }) => confirmPayment(body, wire))
  serve(
    service,
    receipts.readReceipt,
    async ({ params }) => new JsonText(await readReceiptText(context, params.receipt_id)),
  )
  serve(service, receipts.verifyReceipt, ({ params }) => verifyReceipt(context, params.receipt_id))
  serve(service, receipts.verifyPayment, ({ params, wire }) => verifyPayment(context, params.receipt_id, wire))
}
