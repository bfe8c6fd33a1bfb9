// A purchase from end to end. Its intent is a name that the buyer gives it: as long as the journal is there, one intent
// is paid once, whatever happens on the way.

import type { PaymentLeg, Provider } from '@svc/api/purchases'
import { utf8 } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { learnClock } from '../calls/learn-clock.ts'
import type { Context } from '../context.ts'
import { PaymentError } from '../errors.ts'
import { type JournalEntry, journalEntry } from '../journal-entry.ts'
import type { Locker } from '../lockers/locker.ts'
import { type ProvisionOptions, provision } from '../lockers/provision.ts'
import { sha256Hex } from '../sha256.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { confirm, receiptOf } from './confirm.ts'
import { findReceipt } from './find-receipt.ts'
import { hasTime, type Order, type Payable, payableLeg, quote } from './quote.ts'
import { type PaymentRecord, paymentError, settle } from './settle.ts'

export interface Purchase extends ProvisionOptions {
  /** What this purchase is called: the same name is the same purchase, for ever. */
  intent: string
  units: number
  provider?: Provider
  wallet: Wallet
  /** Ticker; the first that the wallet can pay unless told. */
  asset?: string
  /** Asked before anything is signed; false ends the purchase. */
  approve?: (leg: PaymentLeg) => boolean | Promise<boolean>
}

interface PurchaseRecord extends PaymentRecord {
  order: Order
  receipt: SignedReceipt | null
}

/** Quote, payment, receipt, locker; or as much of it as is still to be done. */
export async function buy(context: Context, purchase: Purchase): Promise<Locker & { receipt: SignedReceipt }> {
  const { wallet, intent } = purchase
  if (context.signer?.address !== wallet.address)
    throw new PaymentError('not_moved', `${wallet.address} would pay and own the locker, but does not sign for it`)
  if (context.forgets) context.warn('This client has no journal: a purchase that is cut short may be paid twice.')
  const entry = journalEntry<PurchaseRecord>(context.journal, `purchase ${context.baseUrl} ${intent}`)
  const known = await entry.read()
  requireSameOrder(known, purchase)
  const receipt = known?.receipt ?? (await buyReceipt(context, purchase, entry, known))
  const finished = await provision(context, receipt.receipt_id, purchase).catch(paidBut(receipt.tx_hash))
  return { locker_id: finished.locker_id, receipt_id: finished.receipt_id, receipt }
}

function orderOf({ units, provider, asset }: Purchase): Order {
  return { units, ...(provider && { provider }), ...(asset && { pay_asset: asset }) }
}

/** What its receipt must say. */
function expectedOf({ units, wallet }: Purchase): Partial<SignedReceipt> {
  return { units, payer_pubkey: wallet.address }
}

function requireSameOrder(known: PurchaseRecord | null, purchase: Purchase): void {
  if (known === null) return
  const [begun, asked] = [known.order, orderOf(purchase)].map((order) => JSON.stringify(order))
  if (begun === asked && known.payer === purchase.wallet.address) return
  const message = `${JSON.stringify(purchase.intent)} was begun by ${known.payer} as another order: ${begun}`
  throw paymentError(new PaymentError('not_moved', message), known.attempts)
}

async function buyReceipt(
  context: Context,
  purchase: Purchase,
  entry: JournalEntry<PurchaseRecord>,
  known: PurchaseRecord | null,
): Promise<SignedReceipt> {
  const { wallet, signal } = purchase
  const begin = { payer: wallet.address, attempts: [], order: orderOf(purchase), receipt: null }
  const expected = expectedOf(purchase)
  const before = known?.attempts ?? []
  const found = await (known ? findReceipt(context, before, expected) : findForgotten(context, purchase)).catch(
    (error: unknown) => {
      throw paymentError(error, before)
    },
  )
  if (found) return noted(entry, begin, found)
  const payable = () => nextPayable(context, purchase)
  const { leg, payment } = await settle<PurchaseRecord>(context, { entry, wallet, begin, payable, signal })
  const { tx } = payment
  return noted(entry, begin, await confirm(context, { leg, tx }, { expected, signal }).catch(paidBut(tx)))
}

/** The quotes that this intent has had, one after the other: with a key that follows from it, each comes again. */
async function* quotesOf(context: Context, purchase: Purchase): AsyncGenerator<Payable> {
  const { wallet, intent, asset, signal } = purchase
  for (let count = 0; count < 5; count++) {
    const idempotencyKey = await sha256Hex(utf8(`svc purchase ${wallet.address} ${count} ${intent}`))
    yield payableLeg(await quote(context, orderOf(purchase), { idempotencyKey, signal }), wallet, asset)
  }
}

/** The receipt of a purchase of this name that a journal knew of which is gone; the gateway remembers for a day. */
async function findForgotten(context: Context, purchase: Purchase): Promise<SignedReceipt | null> {
  await learnClock(context)
  for await (const before of quotesOf(context, purchase)) {
    const receipt = await receiptOf(context, before.leg, expectedOf(purchase))
    if (receipt || hasTime(context, before, purchase.wallet.landsWithin)) return receipt
  }
  return null
}

async function nextPayable(context: Context, purchase: Purchase): Promise<Payable> {
  const { wallet, approve } = purchase
  for await (const next of quotesOf(context, purchase)) {
    if (!hasTime(context, next, wallet.landsWithin)) continue
    if (approve && !(await approve(next.leg))) throw new PaymentError('not_moved', 'the payment was not approved')
    return next
  }
  throw new PaymentError('not_moved', 'quotes of this gateway end sooner than a payment can land')
}

/** Somebody else may have noted it: it is the same receipt. */
async function noted(
  entry: JournalEntry<PurchaseRecord>,
  begin: PurchaseRecord,
  receipt: SignedReceipt,
): Promise<SignedReceipt> {
  const record = (await entry.read()) ?? begin
  if (!record.receipt) await entry.write({ ...record, receipt })
  return receipt
}

function paidBut(tx: string) {
  return (cause: unknown): never => {
    const message = `paid, but not finished: ${(cause as Error).message}. Buy with the same intent to go on`
    throw new PaymentError('moved', message, { tx, cause })
  }
}
