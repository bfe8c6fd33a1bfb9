// Completes a purchase with a signed payment: the receipt, and the locker for the wallet that paid.

import { createFile } from '@svc/api/files'
import { signedProvision } from '@svc/api/lockers'
import type { X402Purchase } from '@svc/api/x402'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../../../context.ts'
import { createLocker, type LockerCreation, tagsOf } from '../../../lockers/create-locker.ts'
import { findReceiptOfRequest, type PayRequest } from '../../store.ts'
import { notSettled } from './errors.ts'
import { earlier, finishSettlement, isSettled, type Settled } from './finish-settlement.ts'
import { settlePayment } from './settle.ts'
import type { Settler, SignedPayment } from './settler.ts'
import { findSettlement } from './store.ts'

/** The receipt of a signed payment, settled now or earlier. */
export async function payOnce(context: Context, payment: SignedPayment, settler: Settler): Promise<Settled> {
  const existing = await findReceiptOfRequest(context.database.db, payment.request.pay_req_id)
  const settled = existing ? earlier(existing) : await settlePayment(context, payment)
  await requirePayer(context, payment, settler, settled.receipt)
  await context.continuity.requireWritten({ kind: 'receipt', key: settled.receipt.receipt_id })
  return settled
}

/**
 * Another payer may have paid the quote, or own the resumed settlement. The receipt goes only to the sender of the
 * settled payment, or of another payment by the same payer (ADD-13). If this payment was sent as well, it is a second
 * payment of the quote: its outcome is determined first, and its amount is recorded for refund.
 */
async function requirePayer(
  context: Context,
  { id, request, payload, leg }: SignedPayment,
  settler: Settler,
  { payer_pubkey, tx_hash }: SignedReceipt,
): Promise<void> {
  const settlement = await findSettlement(context.database.db, request.pay_req_id)
  const isSent = settlement?.payment_id === id
  if ((isSent && settlement.tx === tx_hash) || (await settler.signer(payload, leg)) === payer_pubkey) return
  if (isSent && isSettled(await finishSettlement(context, request, settlement))) return
  throw notSettled({ why: 'invalid', reason: 'quote_already_paid' }, leg)
}

type Opened = Pick<X402Purchase, 'locker_id' | 'next_step'>

/**
 * The locker in the answer to a buyer. The payment is final: if the owner has too many lockers, the answer explains how
 * to open it later.
 */
export async function openLocker(context: Context, request: PayRequest, { receipt, locker }: Settled): Promise<Opened> {
  const made = locker ?? (await createLockerOf(context, request, receipt))
  const signed = { method: 'POST' as const, signer: receipt.payer_pubkey, sig_alg: receipt.sig_alg }
  const { baseUrl } = context.config.http
  if (made.outcome === 'refused') {
    const { path, auth } = signedProvision
    const what = `Open the locker later: ${made.refusal.message}. The receipt remains valid.`
    return { locker_id: null, next_step: { what, ...signed, url: baseUrl + path, ops: [...auth.ops] } }
  }
  const { locker_id } = made.locker
  const url = baseUrl + createFile.path.replace('{locker_id}', locker_id)
  const what =
    'Store a file: name it with {"filename": …} in a request that the wallet that paid has signed, then PUT its bytes to upload_url.'
  return { locker_id, next_step: { what, ...signed, url, ops: [...createFile.auth.ops] } }
}

/**
 * Opens the locker or finds it open, so that a buyer who repeats a payment after an interruption gets the same answer.
 */
async function createLockerOf(
  { database, config, continuity, now }: Context,
  request: PayRequest,
  receipt: SignedReceipt,
): Promise<LockerCreation> {
  const made = await database.commit((tx, recordDocuments) =>
    createLocker(tx, recordDocuments, {
      receipt,
      request,
      tags: tagsOf(request.quote),
      createdAt: unixNow({ now }),
      maxPerOwner: config.payments.maxLockersPerOwner,
    }),
  )
  if (made.outcome === 'existing') await continuity.requireWritten({ kind: 'locker', key: made.locker.locker_id })
  return made
}
