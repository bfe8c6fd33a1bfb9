import { verifyPayment } from '@svc/api/receipts'
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

/** What can be said of a receipt by itself. */
export async function receiptFacts(context: Context, receiptId: string): Promise<ReceiptFacts> {
  const signed = await signedFact(context, receiptId)
  const paid = await paidFact(context, receiptId)
  return {
    facts: [
      { fact: 'receipt_signed', ...signed, means: SIGNED },
      { fact: 'payment_on_chain', ...paid, means: PAID },
    ],
  }
}

async function signedFact({ client }: Context, receiptId: string) {
  try {
    await client.receipt(receiptId)
    return { value: 'passed', why: null } as const
  } catch (error) {
    if (error instanceof UntrueAnswer) return { value: 'failed', why: error.message } as const
    throw error
  }
}

async function paidFact({ client }: Context, receipt_id: string) {
  try {
    const { body } = await client.call(verifyPayment, { params: { receipt_id } })
    if (body.verified) return { value: 'passed', why: null } as const
    const wrong = Object.entries(body.matches).filter(([, holds]) => holds === false)
    return { value: 'failed', why: `not so: ${wrong.map(([name]) => name).join(', ')}` } as const
  } catch (error) {
    if (error instanceof GatewayError) return { value: 'unavailable', why: error.message } as const
    throw error
  }
}
