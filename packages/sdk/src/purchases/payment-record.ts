// The journal record of a purchase during its payment, and its updates after the answer of a wallet that sends itself.

import { PaymentError } from '../errors.ts'
import type { JournalEntry } from '../journal.ts'
import type { SignedPayment } from '../wallets/wallet.ts'
import type { Payable } from './quote.ts'

/** A payment that was sent or may have been sent. */
export interface PaymentAttempt extends Payable {
  payment: SignedPayment
}

export interface PaymentRecord {
  payer: string
  /** In order, newest last. */
  attempts: PaymentAttempt[]
  /** The open request to a wallet that sends itself. */
  asked?: WalletRequest | undefined
}

export interface WalletRequest extends Payable {
  /** Distinguishes requests for one quote. Absent in records of earlier releases. */
  request?: string
}

/** Adds a sent payment to the record, which other processes may have changed in the meantime. */
export async function recordAnswer<R extends PaymentRecord>(
  entry: JournalEntry<R>,
  begin: R,
  { request, ...payable }: WalletRequest,
  payment: SignedPayment,
): Promise<void> {
  const { tx } = payment
  try {
    await entry.update((now) => {
      const { asked, ...record } = now ?? begin
      if (record.payer !== begin.payer) throw new Error(`${record.payer} has started a purchase with the same name`)
      const attempts = record.attempts.filter((attempt) => attempt.payment.tx !== tx)
      const merged = { ...record, attempts: [...attempts, { ...payable, payment }] }
      return withoutRequest(merged as unknown as R, asked, request)
    })
  } catch (cause) {
    const message = `the wallet has sent ${tx}, but the payment could not be recorded: ${(cause as Error).message}`
    throw new PaymentError('may_have_moved', message, { tx, cause })
  }
}

export async function recordRefusal<R extends PaymentRecord>(
  entry: JournalEntry<R>,
  { request }: WalletRequest,
): Promise<void> {
  await entry.update((now) => {
    if (!now) return null
    const { asked, ...record } = now
    return withoutRequest(record as unknown as R, asked, request)
  })
}

/** Removes the answered request. A later request remains open. */
function withoutRequest<R extends PaymentRecord>(record: R, asked: WalletRequest | undefined, answered?: string): R {
  return asked && asked.request !== answered ? { ...record, asked } : record
}
