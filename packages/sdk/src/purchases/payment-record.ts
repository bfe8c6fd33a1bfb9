// The journal record of a purchase during its payment, and how the answer of a wallet that sends by itself gets into it.

import { PaymentError } from '../errors.ts'
import type { JournalEntry } from '../journal.ts'
import type { SignedPayment } from '../wallets/wallet.ts'
import type { Payable } from './quote.ts'

/** A payment that was, or may have been, sent. */
export interface PaymentAttempt extends Payable {
  payment: SignedPayment
}

export interface PaymentRecord {
  payer: string
  /** In order; the newest is last. */
  attempts: PaymentAttempt[]
  /** What a wallet that sends by itself was asked to pay and has not answered yet. */
  asked?: AskedPayment | undefined
}

export interface AskedPayment extends Payable {
  /** Tells requests of one quote apart; absent in records of earlier releases. */
  request?: string
}

/** Other processes may have changed the record while the wallet was asked; what it has sent stays in it all the same. */
export async function recordAnswer<R extends PaymentRecord>(
  entry: JournalEntry<R>,
  begin: R,
  { request, ...payable }: AskedPayment,
  payment: SignedPayment,
): Promise<void> {
  const { tx } = payment
  try {
    await entry.update((now) => {
      const { asked, ...record } = now ?? begin
      if (record.payer !== begin.payer) throw new Error(`${record.payer} has started a purchase of the same name`)
      const attempts = record.attempts.filter((attempt) => attempt.payment.tx !== tx)
      const merged = { ...record, attempts: [...attempts, { ...payable, payment }] }
      return withoutRequest(merged as unknown as R, asked, request)
    })
  } catch (cause) {
    const message = `the wallet has sent ${tx}, but that could not be recorded: ${(cause as Error).message}`
    throw new PaymentError('may_have_moved', message, { tx, cause })
  }
}

export async function recordRefusal<R extends PaymentRecord>(
  entry: JournalEntry<R>,
  { request }: AskedPayment,
): Promise<void> {
  await entry.update((now) => {
    if (!now) return null
    const { asked, ...record } = now
    return withoutRequest(record as unknown as R, asked, request)
  })
}

/** A request that was made since is still open. */
function withoutRequest<R extends PaymentRecord>(record: R, asked: AskedPayment | undefined, answered?: string): R {
  return asked && asked.request !== answered ? { ...record, asked } : record
}
