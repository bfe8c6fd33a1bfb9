import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { GatewayError } from '../errors.ts'
import { confirmOnce } from './confirm.ts'
import type { PaymentAttempt } from './settle.ts'

/** The receipt of a payment that was signed before, where the gateway has it or can see the payment now. */
export async function findReceipt(
  context: Context,
  attempts: readonly PaymentAttempt[],
  expected: Partial<SignedReceipt>,
): Promise<SignedReceipt | null> {
  for (const { leg, payment } of attempts) {
    const found = await confirmOnce(context, { leg, tx: payment.tx }, { expected }).catch(nullIfRefused)
    if (found) return found
  }
  return null
}

function nullIfRefused(error: unknown): null {
  if (error instanceof GatewayError) return null
  throw error
}
