import type { Context } from '../context.ts'
import { PaymentError } from '../errors.ts'
import { journalEntry } from '../journal.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { completePayment } from './complete-payment.ts'
import type { Payment } from './confirm.ts'
import type { PaymentRecord } from './payment-record.ts'
import { type AnyQuote, hasTime, payableLeg, requireConsistentQuote } from './quote.ts'

export interface PayOptions {
  /** The ticker of the leg. By default the first leg that the wallet can pay. */
  asset?: string
  signal?: AbortSignal | undefined
}

/** Pays a quote on chain. Repeated calls, even after a crash, return the same payment. */
export async function pay(
  context: Context,
  quote: AnyQuote,
  wallet: Wallet,
  { asset, signal }: PayOptions = {},
): Promise<Payment> {
  requireConsistentQuote(quote)
  const next = payableLeg(quote, wallet, asset)
  const { leg, payment } = await completePayment<PaymentRecord>(context, {
    entry: journalEntry(context.journal, `quote ${next.leg.extra.pay_req_id}`),
    wallet,
    begin: { payer: wallet.address, attempts: [] },
    async payable() {
      if (hasTime(context, next, wallet.landsWithin)) return next
      throw new PaymentError('not_moved', 'the quote expires too soon: request a new one')
    },
    signal,
  })
  return { leg, tx: payment.tx }
}
