// How tools report a payment.

import type { SignedReceipt } from '@svc/protocol/receipt'
import Type from 'typebox'

export const PAID = {
  new_payment: Type.Boolean({
    description: 'Whether this call made a payment. False: an earlier call made it.',
  }),
  receipt_id: Type.String({ description: 'Proof of the payment. For a locker, the id to give to other tools.' }),
  paid: Type.Object({ amount: Type.String(), asset: Type.String(), network: Type.String() }),
  tx: Type.String(),
  payer: Type.String(),
}

export function paidData(receipt: SignedReceipt, isNew: boolean) {
  const { receipt_id, paid_amount: amount, pay_asset: asset, network, tx_hash: tx, payer_pubkey: payer } = receipt
  return { new_payment: isNew, receipt_id, paid: { amount, asset, network }, tx, payer }
}

export function paidText({ paid_amount, pay_asset, tx_hash }: SignedReceipt, isNew: boolean): string {
  if (isNew) return `Paid ${paid_amount} ${pay_asset} (${tx_hash}).`
  return `Already paid: no new payment was made. The payment was ${paid_amount} ${pay_asset} (${tx_hash}).`
}
