// Puts a receipt that the database has lost back into it, with its quote and its locker. The receipt comes from anybody:
// it must be signed by this gateway, and its transaction and its quote must not be used otherwise (T-181).

import { PROVIDERS, type Provider } from '@svc/api/purchases'
import { Receipt } from '@svc/api/receipts'
import { ServiceError } from '@svc/http-service/service-error'
import { schemaCheck } from '@svc/http-service/validate'
import { networkNamed } from '@svc/payments/networks'
import { x402Leg } from '@svc/payments/x402'
import { unixSeconds } from '@svc/protocol/evidence'
import { lockerId, receiptId } from '@svc/protocol/ids'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import { noteOfReceipt, receiptHash } from '../continuity/entries.ts'
import { parseSale, type Sale } from '../continuity/sale.ts'
import { recordLostReceipt } from '../continuity/store.ts'
import type { LostReceiptTable, Tx } from '../db/schema.ts'
import { createLocker } from '../lockers/create-locker.ts'
import { findLocker } from '../lockers/store.ts'
import { claimPayment } from '../purchases/claim-payments.ts'
import { scaleTerms } from '../purchases/quote.ts'
import { paymentOf, soldRequest } from '../purchases/remake-receipt.ts'
import { findLostReceipt, findReceiptOfRequest, restorePayRequest } from '../purchases/store.ts'
import { gatewayKey } from './gateway-key.ts'

export interface RestoredReceipt {
  receipt_id: string
  /** Of the locker that it opened or renewed. */
  locker_id: string
}

/** The locker was there before. */
const ANY_NUMBER = 1_000_000_000

const objection = schemaCheck(Receipt)

/** What a file holds: a receipt, or the answer of a confirmation. Null for anything else. */
export function readReceipt(text: string): SignedReceipt | null {
  try {
    const file = JSON.parse(text) as { receipt?: unknown } | null
    const receipt = file?.receipt ?? file
    return objection(receipt) === null ? (receipt as SignedReceipt) : null
  } catch {
    return null
  }
}

/**
 * Null where the database has it; a sentence where it cannot be restored. `provider` is for receipts of which the logbook
 * does not say what was sold.
 */
export async function rebuildReceipt(
  context: Context,
  receipt: SignedReceipt,
  provider: Provider | undefined,
): Promise<RestoredReceipt | string | null> {
  const { db } = context.database
  const { receipt_id, pay_req_id, tx_hash: tx, extends: renewed } = receipt
  const lost = await findLostReceipt(db, receiptHash(receipt_id))
  const problem = await forgery(context, receipt, lost)
  if (problem !== null) return problem
  if ((await findReceiptOfRequest(db, pay_req_id))?.receipt_id === receipt_id) return null
  const locker_id = lockerId(renewed ?? receipt_id)
  if (renewed !== undefined && !(await findLocker(db, locker_id)))
    return `renews ${locker_id}, which is not in this database: give the receipt of that locker, too`
  const sale = (lost?.sale && parseSale(lost.sale)) || guessSale(context, receipt, provider)
  if (typeof sale === 'string') return sale
  const request = soldRequest(pay_req_id, sale, renewed ?? null)
  const confirmed_at = unixSeconds(receipt.confirmed_at) ?? unixNow(context)
  const { authorization } = sale
  const open = (transaction: Tx) =>
    createLocker(transaction, { receipt, request, tags: [], createdAt: unixNow(context), maxPerOwner: ANY_NUMBER })
  try {
    await claimPayment(context, {
      receipt,
      request,
      payment: paymentOf({ tx, confirmed_at }, sale),
      ...(authorization !== undefined && { authorization }),
      beforehand: async (transaction) => {
        await recordLostReceipt(transaction, noteOfReceipt(receipt, sale), unixNow(context))
        await restorePayRequest(transaction, request)
      },
      ...(renewed === undefined && { andThen: open }),
    })
  } catch (error) {
    if (error instanceof ServiceError) return `cannot be restored: ${error.message}`
    throw error
  }
  return { receipt_id, locker_id }
}

/** Whoever stole a key dates as they like: what a revoked key signed must be in the logbook. */
async function forgery(
  context: Context,
  receipt: SignedReceipt,
  lost: LostReceiptTable | null,
): Promise<string | null> {
  const key = await gatewayKey(context, receipt.receipt_signer_pubkey, unixSeconds(receipt.confirmed_at) ?? 0)
  if (!key || !isReceiptSignedBy(key.verifier, receipt)) return 'is not signed by a key of this gateway'
  if (receiptId(receipt.pay_req_id, receipt.tx_hash) !== receipt.receipt_id) return 'has an id that is not its own'
  return key.revokedSince === null || lost ? null : 'is signed by a revoked key, and not in the logbook'
}

/** By what is sold today. */
function guessSale(context: Context, receipt: SignedReceipt, provider: Provider | undefined): Sale | string {
  if (provider === undefined)
    return `does not say what was sold, and neither does the logbook: name the provider with --provider, one of ${PROVIDERS.join(', ')}`
  const network = networkNamed(receipt.network)
  const treasury = context.sales.treasuries.find((one) => one.network === network)
  const leg = treasury?.legs.find(({ of }) => of.ticker === receipt.pay_asset)
  if (!leg) return `was paid in ${receipt.pay_asset} on ${receipt.network}, which this gateway does not take`
  const paid = x402Leg({ ...leg, amount: BigInt(receipt.paid_raw), rate: null }, receipt.pay_req_id)
  const { pay_req_id: _, ...extra } = paid.extra
  const confirmedAt = unixSeconds(receipt.confirmed_at) ?? unixNow(context)
  return {
    provider,
    units: receipt.units,
    createdAt: confirmedAt,
    expiresAt: confirmedAt,
    url: `${context.config.http.baseUrl}/v1/storage/request`,
    terms: scaleTerms(context.config.payments.terms[provider], receipt.units),
    ...(receipt.extends !== undefined && { renews: lockerId(receipt.extends) }),
    leg: { ...paid, extra },
    payer: receipt.payer_pubkey,
    received: receipt.received_raw ?? receipt.paid_raw,
    height: receipt.slot ?? receipt.block_number ?? 0,
  }
}
