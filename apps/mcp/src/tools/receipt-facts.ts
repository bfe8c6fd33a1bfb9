import type { SignedReceipt } from '@svc/protocol/receipt'
import { GatewayError, UntrueAnswer } from '@svc/sdk/errors'
import type { Context } from '../context.ts'

export interface ReceiptFacts {
  /** Null when it is not to be believed. */
  receipt: SignedReceipt | null
  facts: {
    fact: string
    value: 'passed' | 'failed' | 'not_checked' | 'unavailable'
    why: string | null
    means: string
  }[]
}

const SIGNED =
  'A trusted key has signed this receipt: one of SVC_KEYS, or without those a key that the gateway showed first.'
const PAID = 'The gateway finds the payment on chain as the receipt tells it. This is the gateway’s own word.'

/** The facts about a receipt itself. */
export async function receiptFacts(context: Context, receiptId: string, signal: AbortSignal): Promise<ReceiptFacts> {
  const signed = await readSigned(context, receiptId, signal)
  const paid = await paidFact(context, receiptId, signal)
  const { receipt, ...signedFact } = signed
  return {
    receipt,
    facts: [
      { fact: 'receipt_signed', ...signedFact, means: SIGNED },
      { fact: 'payment_on_chain', ...paid, means: PAID },
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
    return { value: 'failed', why: `the chain says otherwise: ${differing.join(', ')}` } as const
  } catch (error) {
    if (error instanceof GatewayError) return { value: 'unavailable', why: error.message } as const
    throw error
  }
}
