// Buys storage from end to end.

import type { Provider, Quote } from '@svc/api/purchases'
import { utf8 } from '@svc/protocol/bytes'
import { PURCHASE_KEY_TAG } from '@svc/protocol/names'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { learnClock } from '../calls/clock.ts'
import type { Context } from '../context.ts'
import { PaymentError } from '../errors.ts'
import { type Locker, type ProvisionOptions, provision, provisionObjection } from '../lockers.ts'
import { sha256Hex } from '../sha256.ts'
import type { Signer } from '../signers.ts'
import { receiptOf, showPayment } from './confirm.ts'
import { type Intention, paidBut, receiptOnce } from './purchase.ts'
import { hasTime, type Order, type Payable, payableLeg, quote } from './quote.ts'

export interface Purchase extends Intention, ProvisionOptions {
  units: number
  provider?: Provider
  /** Called with the receipt before the locker is opened, each time the purchase is resumed. */
  onReceipt?: (receipt: SignedReceipt) => Promise<void>
}

/** Gets a quote, pays it, confirms the payment and opens the locker, or resumes where it stopped. */
export async function buy(context: Context, purchase: Purchase): Promise<Locker & { receipt: SignedReceipt }> {
  requireProvisionable(purchase)
  const keyOf = quoteKeys(context, purchase)
  const quotes = () => quotesOf(context, purchase, keyOf)
  const receipt = await receiptOnce(context, purchase, {
    order: orderOf(purchase),
    expected: expectedOf(purchase),
    show: showPayment,
    payable: () => nextPayable(context, purchase, quotes()),
    recoverReceipt: () => recoverReceipt(context, purchase, quotes()),
  })
  const open = async () => {
    await purchase.onReceipt?.(receipt)
    return provision(context, receipt.receipt_id, purchase)
  }
  const finished = await open().catch(paidBut(receipt.tx_hash))
  return { locker_id: finished.locker_id, receipt_id: finished.receipt_id, receipt }
}

/** What the gateway would refuse to open the locker with is refused before it is paid for. */
function requireProvisionable(purchase: Purchase): void {
  const objection = provisionObjection(purchase)
  if (objection !== null) throw new PaymentError('not_moved', objection)
}

const MAX_QUOTES = 5

/** The idempotency key of each quote of a purchase. */
type QuoteKeys = (count: number) => Promise<string>

/**
 * Keys that follow from a signature, which is made once and never sent. Nobody else can compute them, so nobody else gets
 * the quotes; the buyer can, without a journal too. Another order has other keys, so a name that was never paid is free.
 */
function quoteKeys({ signer, baseUrl }: Context, purchase: Purchase): QuoteKeys {
  let signature: Promise<string> | undefined
  return async (count) => {
    const lines = [
      PURCHASE_KEY_TAG,
      'Find this purchase again. This signature is sent to nobody.',
      `service: ${baseUrl}`,
      `purchase: ${JSON.stringify(purchase.intent)}`,
      `order: ${JSON.stringify(orderOf(purchase))}`,
    ]
    signature ??= (signer as Signer).sign(utf8(lines.join('\n'))) // `receiptOnce` has required it
    return sha256Hex(utf8(`${await signature} ${count}`))
  }
}

function orderOf({ units, provider, asset }: Purchase): Order {
  return { units, ...(provider && { provider }), ...(asset && { pay_asset: asset }) }
}

function expectedOf({ units, wallet }: Purchase): Partial<SignedReceipt> {
  return { units, payer_pubkey: wallet.address }
}

/** The quotes of this purchase, in order. Whoever knows their keys gets them again. */
async function* quotesOf(context: Context, purchase: Purchase, keyOf: QuoteKeys): AsyncGenerator<Quote> {
  for (let count = 0; count < MAX_QUOTES; count++) {
    const options = { idempotencyKey: await keyOf(count), signal: purchase.signal }
    yield await quote(context, orderOf(purchase), options)
  }
}

/** The gateway remembers an idempotency key for a day. */
async function recoverReceipt(
  context: Context,
  purchase: Purchase,
  quotes: AsyncGenerator<Quote>,
): Promise<SignedReceipt | null> {
  const { wallet, asset, signal } = purchase
  const expected = expectedOf(purchase)
  await learnClock(context, signal)
  for await (const before of quotes) {
    const payable = payableLeg(before, wallet, asset)
    const { confirm_url: confirmUrl } = before.extensions.svc.info
    const receipt = await receiptOf(context, { leg: payable.leg, confirmUrl }, { expected, signal })
    if (receipt || hasTime(context, payable, wallet.landsWithin)) return receipt
  }
  return null
}

async function nextPayable(
  context: Context,
  { wallet, asset }: Purchase,
  quotes: AsyncGenerator<Quote>,
): Promise<Payable> {
  for await (const next of quotes) {
    const payable = payableLeg(next, wallet, asset)
    if (hasTime(context, payable, wallet.landsWithin)) return payable
  }
  throw new PaymentError('not_moved', 'quotes of this gateway end sooner than a payment can land')
}
