// Buys storage from end to end: for a new locker, or for an existing one.

import type { Provider } from '@svc/api/providers'
import type { Quote } from '@svc/api/purchases'
import { utf8 } from '@svc/protocol/bytes'
import { PURCHASE_KEY_TAG } from '@svc/protocol/names'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { syncClock } from '../calls/clock.ts'
import type { Context } from '../context.ts'
import { PaymentError } from '../errors.ts'
import { type Locker, type ProvisionOptions, provision, provisionObjection } from '../lockers.ts'
import { sha256Hex } from '../sha256.ts'
import type { Signer } from '../signers.ts'
import { receiptOf, showPayment } from './confirm.ts'
import { type Intention, paidButUnfinished, receiptOnce, type Sale } from './purchase.ts'
import { hasTime, type Order, type Payable, payableLeg, quote, requireMatchingOrder } from './quote.ts'

export interface Purchase extends Intention, ProvisionOptions {
  units: number
  provider?: Provider
  /** Called with the receipt before the locker is opened, each time that the purchase is resumed. */
  onReceipt?: (receipt: SignedReceipt) => Promise<void>
}

/** Gets a quote, pays it, confirms the payment and opens the locker, or resumes where it stopped. */
export async function buy(context: Context, purchase: Purchase): Promise<Locker & { receipt: SignedReceipt }> {
  requireProvisionable(purchase)
  const { units, provider } = purchase
  const receipt = await payForStorage(context, purchase, { units, ...(provider && { provider }) })
  const open = async () => {
    await purchase.onReceipt?.(receipt)
    return provision(context, receipt.receipt_id, purchase)
  }
  const finished = await open().catch(paidButUnfinished(receipt.tx_hash))
  return { locker_id: finished.locker_id, receipt_id: finished.receipt_id, receipt }
}

export interface RenewalPurchase extends Intention {
  units: number
}

export interface QuotedPurchase extends Intention, Pick<Order, 'units' | 'provider' | 'extends'> {
  /**
   * Returns the quote that the buyer sees, renewed when it has expired. Each quote must be saved before it is returned.
   */
  quote: () => Promise<Quote>
}

/** Pays a quote that the buyer sees, and returns the receipt. `provision` then opens a new locker. */
export function buyQuoted(context: Context, purchase: QuotedPurchase): Promise<SignedReceipt> {
  const { units, provider, extends: of, quote, wallet, asset } = purchase
  const order = { units, ...(provider && { provider }), ...(of && { extends: of }), ...(asset && { pay_asset: asset }) }
  return receiptOnce(context, purchase, {
    ...saleOf(purchase, order),
    async payable() {
      const shown = await quote()
      requireMatchingOrder(order, shown)
      const payable = payableLeg(shown, wallet, asset)
      if (hasTime(context, payable, wallet.landsWithin)) return payable
      throw new PaymentError('not_moved', 'the quote expires too soon: request a new one')
    },
    // A page that has lost its journal has also lost the name of the purchase.
    recoverReceipt: async () => null,
  })
}

/** The common part of all purchases of storage. */
function saleOf({ wallet }: Intention, order: Order): Pick<Sale, 'order' | 'expected' | 'show'> {
  const { units, extends: of } = order
  return { order, expected: { units, payer_pubkey: wallet.address, ...(of && { extends: of }) }, show: showPayment }
}

/**
 * Renews an existing locker: its remaining terms and the bought ones are added up. Anyone who knows its receipt may
 * pay. The receipt of the renewal proves the payment; the receipt of the locker does not change.
 */
export async function renew(
  context: Context,
  { receipt_id }: Pick<Locker, 'receipt_id'>,
  purchase: RenewalPurchase,
): Promise<{ receipt: SignedReceipt }> {
  return { receipt: await payForStorage(context, purchase, { units: purchase.units, extends: receipt_id }) }
}

/** Refuses options before the payment if the gateway would refuse to open a locker with them. */
function requireProvisionable(purchase: Purchase): void {
  const objection = provisionObjection(purchase)
  if (objection !== null) throw new PaymentError('not_moved', objection)
}

/** The order, and the buyer's intention. */
interface StorageSale {
  intention: Intention
  order: Order
  /** Fields that the receipt must have. */
  expected: Partial<SignedReceipt>
}

function payForStorage(context: Context, intention: Intention, goods: Order): Promise<SignedReceipt> {
  const { asset } = intention
  const order = { ...goods, ...(asset && { pay_asset: asset }) }
  const common = saleOf(intention, order)
  const sale = { intention, order, expected: common.expected }
  const keyOf = quoteKeys(context, sale)
  const quotes = () => quotesOf(context, sale, keyOf)
  return receiptOnce(context, intention, {
    ...common,
    payable: () => nextPayable(context, intention, quotes()),
    recoverReceipt: () => recoverReceipt(context, sale, quotes()),
  })
}

const MAX_QUOTES = 5

/** The idempotency key of each quote of a purchase. */
type QuoteKeys = (count: number) => Promise<string>

/**
 * Keys that are derived from a signature, which is made once and never sent. Only the buyer can compute them and get
 * the quotes again, even without a journal. Another order has other keys, so a name that was never paid is free.
 */
function quoteKeys({ signer, baseUrl }: Context, { intention, order }: StorageSale): QuoteKeys {
  let signature: Promise<string> | undefined
  return async (count) => {
    const lines = [
      PURCHASE_KEY_TAG,
      'Find this purchase again. This signature is sent to nobody.',
      `service: ${baseUrl}`,
      `purchase: ${JSON.stringify(intention.intent)}`,
      `order: ${JSON.stringify(order)}`,
    ]
    signature ??= (signer as Signer).sign(utf8(lines.join('\n'))) // `receiptOnce` has required it
    return sha256Hex(utf8(`${await signature} ${count}`))
  }
}

/** The quotes of this purchase in order. A client that knows their keys gets the same quotes again. */
async function* quotesOf(context: Context, { intention, order }: StorageSale, keyOf: QuoteKeys): AsyncGenerator<Quote> {
  for (let count = 0; count < MAX_QUOTES; count++) {
    yield await quote(context, order, { idempotencyKey: await keyOf(count), signal: intention.signal })
  }
}

/** Finds the receipt of a lost journal. The gateway stores an idempotency key for a day. */
async function recoverReceipt(
  context: Context,
  { intention, expected }: StorageSale,
  quotes: AsyncGenerator<Quote>,
): Promise<SignedReceipt | null> {
  const { wallet, asset, signal } = intention
  await syncClock(context, signal)
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
  { wallet, asset }: Intention,
  quotes: AsyncGenerator<Quote>,
): Promise<Payable> {
  for await (const next of quotes) {
    const payable = payableLeg(next, wallet, asset)
    if (hasTime(context, payable, wallet.landsWithin)) return payable
  }
  throw new PaymentError('not_moved', 'quotes of this gateway expire before a payment can land')
}
