// Reads, verifies and finds the receipts of payments.

import { toHex } from '@svc/protocol/bytes'
import { unixSeconds } from '@svc/protocol/evidence'
import { canonicalTx, issuerKeyId, receiptId } from '@svc/protocol/ids'
import { isReceiptSignedBy, receiptMessage, type SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import { receiptNotFound } from '../auth/errors.ts'
import type { Context } from '../context.ts'
import type { KeysAt } from '../keys/keys-at.ts'
import { findReceiptsOfTransaction, findReceiptText } from './store.ts'

/** The stored text, which is returned without parsing it. */
export async function readReceiptText({ database, continuity }: Context, id: string): Promise<string> {
  const text = await findReceiptText(database.db, id)
  if (text === null) throw receiptNotFound(continuity)
  await continuity.requireWritten({ kind: 'receipt', key: id })
  return text
}

export async function readReceipt(context: Context, id: string): Promise<SignedReceipt> {
  return JSON.parse(await readReceiptText(context, id))
}

/**
 * Trusts only the keys that the gateway lists for the time of the receipt (ADD-07), never a key merely because the
 * receipt names it. A receipt of a key that was revoked later is valid: it is in the database and older than the theft.
 * The answer contains the signed message and the key, so that anyone can repeat the check.
 */
export async function verifyReceipt(context: Context & { keysAt: KeysAt }, id: string) {
  const receipt = await readReceipt(context, id)
  const at = unixSeconds(receipt.confirmed_at)
  const key = at === null ? null : (await context.keysAt(at)).get(receipt.receipt_signer_pubkey)?.verifier
  const checks = {
    receipt_exists: true,
    signature_valid: !!key && isReceiptSignedBy(key, receipt),
    receipt_id_matches: receiptId(receipt.pay_req_id, receipt.tx_hash) === receipt.receipt_id,
  }
  return {
    receipt_id: receipt.receipt_id,
    valid: Object.values(checks).every(Boolean),
    checks,
    signer_pubkey: receipt.receipt_signer_pubkey,
    key_id: issuerKeyId(receipt.receipt_signer_pubkey),
    signed_message_hex: toHex(receiptMessage(receipt)),
    receipt,
  }
}

/** For internal callers only: the id of a receipt opens the public link to its files (T-33). */
export async function findByTransaction(
  { database, continuity }: Context,
  tx: string,
): Promise<{ receipts: SignedReceipt[] }> {
  const receipts = await findReceiptsOfTransaction(database.db, canonicalTx(tx))
  if (receipts.length === 0) throw noReceiptOf(tx)
  await continuity.requireWritten(...receipts.map(({ receipt_id: key }) => ({ kind: 'receipt' as const, key })))
  return { receipts }
}

function noReceiptOf(tx: string): ServiceError {
  return new ServiceError('receipt_not_found', 'no receipt names this transaction', {
    hint: 'if it paid a quote, POST /v1/storage/confirm with its pay_req_id and X402-TX creates the receipt',
    details: { tx: tx.slice(0, 100) },
  })
}
