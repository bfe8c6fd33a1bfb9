// The common steps of all purchases. The buyer names each purchase by an intent. While the journal exists, an intent is
// paid once, even after crashes and lost answers.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { GatewayError, PaymentError } from '../errors.ts'
import type { JournalEntry } from '../journal.ts'
import { abortable } from '../wallets/abortable.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { type Approve, completePayment, paymentError } from './complete-payment.ts'
import { type Confirmed, type ConfirmOptions, confirmOnce, confirmWith, type ShowPayment } from './confirm.ts'
import type { PaymentAttempt } from './payment-record.ts'
import { type PurchaseLocation, type PurchaseRecord, purchaseEntry, withoutPayments } from './purchase-journal.ts'
import type { Payable } from './quote.ts'

/** The input of every purchase. */
export interface Intention {
  /** The name of this purchase: the same name is always the same purchase. */
  intent: string
  wallet: Wallet
  /** The ticker of the asset. By default the first that the wallet can pay. */
  asset?: string
  approve?: Approve
  signal?: AbortSignal | undefined
}

export interface Sale {
  order: PurchaseRecord['order']
  /** Fields that the receipt must have. */
  expected: Partial<SignedReceipt>
  show: ShowPayment<Confirmed>
  /** Returns the leg to pay next. */
  payable: () => Promise<Payable>
  /** Finds the receipt of a purchase of this name whose journal was lost, if the service can. */
  recoverReceipt: () => Promise<SignedReceipt | null>
}

/** Returns the receipt of the purchase with this intent, and pays for it if none exists. */
export async function receiptOnce(context: Context, intention: Intention, sale: Sale): Promise<SignedReceipt> {
  const { wallet, intent } = intention
  if (context.signer?.address !== wallet.address)
    throw new PaymentError(
      'not_moved',
      `${wallet.address} would pay and own the locker, but is not the signer of this client`,
    )
  if (context.hasDefaultJournal) context.warn('This client has no journal: an interrupted purchase may be paid twice.')
  const entry = purchaseEntry(context, intent)
  const known = await openPurchase(entry, intention, sale)
  return known?.receipt ?? (await payForReceipt(context, intention, sale, entry, known))
}

/** The record of this purchase. If another order began with this name, the name is free again if nothing was paid. */
async function openPurchase(
  entry: JournalEntry<PurchaseRecord>,
  intention: Intention,
  sale: Sale,
): Promise<PurchaseRecord | null> {
  const known = await entry.read()
  if (!known || isSameOrder(known, intention, sale)) return known
  if (!(await isUnpaid(known, intention))) throw nameInUse(known, intention)
  const free = known.shown ? { ...beginOf(intention, sale), shown: known.shown } : null
  // Another process may have used the name since it was read.
  return (await entry.write(free)) ? free : openPurchase(entry, intention, sale)
}

function beginOf({ wallet }: Intention, { order }: Sale): PurchaseRecord {
  return { payer: wallet.address, attempts: [], order, receipt: null }
}

function isSameOrder({ order, payer }: PurchaseRecord, { wallet }: Intention, sale: Sale): boolean {
  return JSON.stringify(order) === JSON.stringify(sale.order) && payer === wallet.address
}

/** Whether no payment of the purchase has landed or can land. Only the wallet that signed them can determine this. */
async function isUnpaid(
  { payer, receipt, attempts, asked }: PurchaseRecord,
  { wallet, signal }: Intention,
): Promise<boolean> {
  if (!receipt && !asked && attempts.length === 0) return true
  if (receipt || asked || payer !== wallet.address) return false
  const { outcomeOf } = abortable(wallet, signal)
  const outcomes = await Promise.all(attempts.map(({ payment }) => outcomeOf(payment).catch(() => 'pending' as const)))
  return outcomes.every((outcome) => outcome === 'failed' || outcome === 'expired')
}

function nameInUse({ order, payer, receipt, attempts, asked }: PurchaseRecord, { intent }: Intention): PaymentError {
  const begun = JSON.stringify(order)
  if (receipt) {
    const { receipt_id, paid_amount, pay_asset } = receipt
    const bought = `${payer} bought ${begun} for ${paid_amount} ${pay_asset}, receipt ${receipt_id}`
    return new PaymentError(
      'not_moved',
      `${JSON.stringify(intent)} is finished: ${bought}. Another order needs another name`,
    )
  }
  const message = `${JSON.stringify(intent)} was started by ${payer} as another order: ${begun}`
  return paymentError(new PaymentError('not_moved', message), attempts, asked)
}

async function payForReceipt(
  context: Context,
  intention: Intention,
  sale: Sale,
  entry: JournalEntry<PurchaseRecord>,
  known: PurchaseRecord | null,
): Promise<SignedReceipt> {
  const { wallet, approve, signal } = intention
  const { expected, show, payable, recoverReceipt } = sale
  const begin = { ...beginOf(intention, sale), ...(known?.shown && { shown: known.shown }) }
  const before = known?.attempts ?? []
  const found = await (known ? findReceipt(context, show, before, { expected, signal }) : recoverReceipt()).catch(
    (error: unknown) => {
      throw paymentError(error, before)
    },
  )
  if (found) return recordReceipt(entry, begin, found)
  const { leg, payment } = await completePayment<PurchaseRecord>(context, {
    entry,
    wallet,
    begin,
    payable,
    approve,
    signal,
  })
  const { tx } = payment
  const options = { expected: { ...expected, ...amountOf(leg, payment) }, signal }
  const { receipt } = await confirmWith(context, show, { leg, tx }, options).catch(paidButUnfinished(tx))
  return recordReceipt(entry, begin, receipt)
}

/** Records the receipt, unless another process has. A failed write must not hide that the purchase is paid. */
async function recordReceipt(
  entry: JournalEntry<PurchaseRecord>,
  begin: PurchaseRecord,
  receipt: SignedReceipt,
): Promise<SignedReceipt> {
  try {
    await entry.update((now) => (now?.receipt ? now : { ...(now ?? begin), receipt }))
    return receipt
  } catch (error) {
    return paidButUnfinished(receipt.tx_hash)(error)
  }
}

export function paidButUnfinished(tx: string) {
  return (cause: unknown): never => {
    const message = `paid, but not finished: ${(cause as Error).message}. Repeat the purchase with the same intent to continue it`
    throw new PaymentError('moved', message, { tx, cause })
  }
}

/** The receipt of an earlier payment, if the service has the receipt or now finds the payment. */
async function findReceipt(
  context: Context,
  show: ShowPayment<Confirmed>,
  attempts: readonly PaymentAttempt[],
  { expected, signal }: ConfirmOptions,
): Promise<SignedReceipt | null> {
  for (const { leg, payment } of attempts) {
    const options = { expected: { ...expected, ...amountOf(leg, payment) }, signal }
    const found = await confirmOnce(context, show, { leg, tx: payment.tx }, options).catch(nullIfRefused)
    if (found) return found.receipt
  }
  return null
}

/** The amount is certain only for a payment that was signed here: a wallet that sends itself may have changed it. */
function amountOf({ amount }: PaymentAttempt['leg'], { raw }: PaymentAttempt['payment']): Partial<SignedReceipt> {
  return raw === '' ? {} : { paid_raw: amount }
}

function nullIfRefused(error: unknown): null {
  if (error instanceof GatewayError) return null
  throw error
}

/**
 * Removes the open request to a wallet, and payments that it sent itself and that are not on chain. Only for payers who
 * have seen in their wallet that nothing was sent, because no program can know. False if another process has changed
 * the record.
 */
export async function forgetUnansweredPayment(location: PurchaseLocation, intent: string): Promise<boolean> {
  const entry = purchaseEntry(location, intent)
  const record = await entry.read()
  if (!record || record.receipt) return true
  const { asked, ...rest } = record
  return entry.write({ ...rest, attempts: record.attempts.filter(({ payment }) => payment.raw !== '') })
}

/** Frees the intent for another order or payer if no payment has landed or can land. Returns whether it is free. */
export async function releaseUnpaid(location: PurchaseLocation, intent: string, wallet: Wallet): Promise<boolean> {
  const entry = purchaseEntry(location, intent)
  const record = await entry.read()
  if (!record) return true
  return (await isUnpaid(record, { intent, wallet })) && (await entry.write(withoutPayments(record)))
}
