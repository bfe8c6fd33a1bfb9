import { paymentAttCode } from '@svc/protocol/ids'
import type { Context } from '../context.ts'
import { readReceipt } from '../purchases/receipts.ts'

export async function retrievePayment(context: Context, receiptId: string) {
  const receipt = await readReceipt(context, receiptId)
  const { receipt_id, network, tx_hash, paid_raw, paid_amount, pay_asset, payer_pubkey, confirmed_at } = receipt
  const att_code = paymentAttCode(receipt)
  return { receipt_id, att_code, chain: network, tx_hash, paid_raw, paid_amount, pay_asset, payer_pubkey, confirmed_at }
}
