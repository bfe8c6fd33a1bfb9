import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { GatewayError } from '../errors.ts'
import { type Confirmed, type ConfirmOptions, confirmOnce, type ShowPayment } from './confirm-with.ts'
import type { PaymentAttempt } from './settle.ts'

/** The receipt of a payment that was signed before, where the service has it or can see the payment now. */
export async function findReceipt(
  context: Context,
  show: ShowPayment<Confirmed>,
  attempts: readonly PaymentAttempt[],
  options: ConfirmOptions,
): Promise<SignedReceipt | null> {
  for (const { leg, payment } of attempts) {
    const found = await confirmOnce(context, show, { leg, tx: payment.tx }, options).catch(nullIfRefused)
    if (found) return found.receipt
  }
  return null
}

function nullIfRefused(error: unknown): null {
  if (error instanceof GatewayError) return null
  throw error
}
