// Buys storage from end to end.

import type { Provider } from '@svc/api/purchases'
import { utf8 } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { learnClock } from '../calls/clock.ts'
import type { Context } from '../context.ts'
import { PaymentError } from '../errors.ts'
import { type Locker, type ProvisionOptions, provision } from '../lockers.ts'
import { sha256Hex } from '../sha256.ts'
import { receiptOf, showPayment } from './confirm.ts'
import { type Intention, paidBut, receiptOnce } from './purchase.ts'
import { hasTime, type Order, type Payable, payableLeg, quote } from './quote.ts'

export interface Purchase extends Intention, ProvisionOptions {
  units: number
  provider?: Provider
}

/** Gets a quote, pays it, confirms the payment and opens the locker, or resumes where it stopped. */
export async function buy(context: Context, purchase: Purchase): Promise<Locker & { receipt: SignedReceipt }> {
  const receipt = await receiptOnce(context, purchase, {
    order: orderOf(purchase),
    expected: expectedOf(purchase),
    show: showPayment,
    payable: () => nextPayable(context, purchase),
    recoverReceipt: () => recoverReceipt(context, purchase),
  })
  const finished = await provision(context, receipt.receipt_id, purchase).catch(paidBut(receipt.tx_hash))
  return { locker_id: finished.locker_id, receipt_id: finished.receipt_id, receipt }
}

function orderOf({ units, provider, asset }: Purchase): Order {
  return { units, ...(provider && { provider }), ...(asset && { pay_asset: asset }) }
}

function expectedOf({ units, wallet }: Purchase): Partial<SignedReceipt> {
  return { units, payer_pubkey: wallet.address }
}

/** The quotes of this intent, in order. Their idempotency keys are derived from it, so each quote can be read again. */
async function* quotesOf(context: Context, purchase: Purchase): AsyncGenerator<Payable> {
  const { wallet, intent, asset, signal } = purchase
  for (let count = 0; count < 5; count++) {
    const idempotencyKey = await sha256Hex(utf8(`svc purchase ${wallet.address} ${count} ${intent}`))
    yield payableLeg(await quote(context, orderOf(purchase), { idempotencyKey, signal }), wallet, asset)
  }
}

/** The gateway remembers an idempotency key for a day. */
async function recoverReceipt(context: Context, purchase: Purchase): Promise<SignedReceipt | null> {
  const { wallet, signal } = purchase
  const expected = expectedOf(purchase)
  await learnClock(context, signal)
  for await (const before of quotesOf(context, purchase)) {
    const receipt = await receiptOf(context, showPayment, before.leg, { expected, signal })
    if (receipt || hasTime(context, before, wallet.landsWithin)) return receipt
  }
  return null
}

async function nextPayable(context: Context, purchase: Purchase): Promise<Payable> {
  for await (const next of quotesOf(context, purchase)) {
    if (hasTime(context, next, purchase.wallet.landsWithin)) return next
  }
  throw new PaymentError('not_moved', 'quotes of this gateway end sooner than a payment can land')
}
