import { ServiceError } from '@svc/http-service/service-error'
import { toHex } from '@svc/protocol/bytes'
import { issuerKeyId, receiptId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, receiptMessage, type SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { findReceipt } from './store.ts'

export async function readReceipt({ database }: Context, id: string): Promise<SignedReceipt> {
  const receipt = await findReceipt(database.db, id)
  if (!receipt) throw new ServiceError('receipt_not_found', 'there is no receipt with this id')
  return receipt
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
