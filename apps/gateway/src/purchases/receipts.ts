import { ServiceError } from '@svc/http-service/service-error'
import { toHex } from '@svc/protocol/bytes'
import { issuerKeyId, receiptId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, receiptMessage, type SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { findReceiptText } from './store.ts'

/** The text it was stored as: reading it and writing it again would only cost time. */
export async function readReceiptText({ database }: Context, id: string): Promise<string> {
  const text = await findReceiptText(database.db, id)
  if (text === null) throw new ServiceError('receipt_not_found', 'there is no receipt with this id')
  return text
}

export async function readReceipt(context: Context, id: string): Promise<SignedReceipt> {
  return JSON.parse(await readReceiptText(context, id))
}

/** Anybody can repeat this with the answer alone: the message and the key that signed it are in it. */
export async function verifyReceipt(context: Context, id: string) {
  const receipt = await readReceipt(context, id)
  const key = ed25519PublicKeyFromHex(receipt.receipt_signer_pubkey)
  const checks = {
    receipt_exists: true,
    signature_valid: key !== null && isReceiptSignedBy(key, receipt),
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
