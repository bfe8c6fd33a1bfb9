import { GatewayError, UntrueAnswer } from '@svc/sdk/errors'
import type { Context } from '../context.ts'

export interface ReceiptFacts {
  facts: {
    fact: string
    value: 'passed' | 'failed' | 'not_checked' | 'unavailable'
    why: string | null
    means: string
  }[]
}

const SIGNED = 'The gateway has signed this receipt, and its id follows from quote and transaction.'
const PAID = 'The gateway finds the payment on chain as the receipt tells it. This is the gateway’s own word.'

/** The facts about a receipt itself. */
export async function receiptFacts(context: Context, receiptId: string, signal: AbortSignal): Promise<ReceiptFacts> {
  const signed = await signedFact(context, receiptId, signal)
  const paid = await paidFact(context, receiptId, signal)
  return {
    facts: [
      { fact: 'receipt_signed', ...signed, means: SIGNED },
      { fact: 'payment_on_chain', ...paid, means: PAID },
    ],
  }
}

async function signedFact({ client }: Context, receiptId: string, signal: AbortSignal) {
  try {
    await client.receipt(receiptId, { signal })
    return { value: 'passed', why: null } as const
  } catch (error) {
    if (error instanceof UntrueAnswer) return { value: 'failed', why: error.message } as const
    throw error
  }
}

async function paidFact({ client }: Context, receipt_id: string, signal: AbortSignal) {
  try {
    const { verified, differing } = await client.checkPayment(receipt_id, signal)
    if (verified) return { value: 'passed', why: null } as const
    return { value: 'failed', why: `the chain says otherwise: ${differing.join(', ')}` } as const
  } catch (error) {
    if (error instanceof GatewayError) return { value: 'unavailable', why: error.message } as const
    throw error
  }
}
