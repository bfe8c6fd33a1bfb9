import { ASSETS } from '@svc/api/assets'
import type { PaymentLeg } from '@svc/api/quote'
import { describe, expect, it } from 'vitest'
import { requestedAmount } from '../../src/purchases/approve-payment.ts'

function leg(network: string, asset: string, amount: string, name: string, decimals: number): PaymentLeg {
  const extra = { name, decimals, human_amount: '0.01', pay_req_id: '', quote_schema: 'svc_quote_v4' } as const
  return { scheme: 'exact', network, amount, asset, payTo: '', maxTimeoutSeconds: 300, extra }
}

describe('the amount of a payment', () => {
  it('is shown with its ticker, and with the token address for an unknown token', () => {
    for (const { network, ticker, decimals, address } of ASSETS) {
      const amount = `25${'0'.repeat(decimals)}`
      const isKnown = typeof address === 'string'
      const text = requestedAmount(leg(network.caip2, isKnown ? address : 'Token', amount, ticker, decimals))
      expect(text).toBe(isKnown ? `25 ${ticker}` : `25 ${ticker} (the token Token)`)
    }
  })
})
