import type { SignedReceipt } from '@svc/protocol/receipt'
import { GatewayError, UntrueAnswer } from '@svc/sdk/errors'
import type { Context } from '../context.ts'
import { RECEIPT_FACT_MEANINGS } from '../explain/facts.ts'

export interface ReceiptFacts {
  /** Null if the receipt cannot be trusted. */
  receipt: SignedReceipt | null
  facts: {
    fact: string
    value: 'passed' | 'failed' | 'not_checked' | 'unavailable'
    why: string | null
    means: string
  }[]
}

/** The facts about a receipt itself. */
export async function receiptFacts(context: Context, receiptId: string, signal: AbortSignal): Promise<ReceiptFacts> {
  const signed = await readSigned(context, receiptId, signal)
  const paid = await paidFact(context, receiptId, signal)
  const { receipt, ...signedFact } = signed
  return {
    receipt,
    facts: [
      { fact: 'receipt_signed', ...signedFact, means: RECEIPT_FACT_MEANINGS.receipt_signed },
      { fact: 'payment_on_chain', ...paid, means: RECEIPT_FACT_MEANINGS.payment_on_chain },
    ],
  }
}

async function readSigned({ client }: Context, receiptId: string, signal: AbortSignal) {
  try {
    return { receipt: await client.receipt(receiptId, { signal }), value: 'passed', why: null } as const
  } catch (error) {
    if (error instanceof UntrueAnswer) return { receipt: null, value: 'failed', why: error.message } as const
    throw error
  }
}

async function paidFact({ client }: Context, receipt_id: string, signal: AbortSignal) {
  try {
    const { verified, differing } = await client.checkPayment(receipt_id, signal)
    if (verified) return { value: 'passed', why: null } as const
    return { value: 'failed', why: `the chain differs from the receipt: ${differing.join(', ')}` } as const
  } catch (error) {
    if (error instanceof GatewayError) return { value: 'unavailable', why: error.message } as const
    throw error
  }
}
