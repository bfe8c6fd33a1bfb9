import type { PurchasesContext } from '../../context.ts'
import type { X402Context } from '../x402/room.ts'

type Needs = Pick<PurchasesContext, 'requestQuote' | 'confirmPayment'>

export interface MppContext extends X402Context, Needs {}

export function createMpp(x402: X402Context, { requestQuote, confirmPayment }: Needs): MppContext {
  return { ...x402, requestQuote, confirmPayment }
}
