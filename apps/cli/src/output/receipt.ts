import type { SignedReceipt } from '@svc/protocol/receipt'
import { shown } from './shown.ts'

/** What was paid, and what shows it. */
export function paidPairs(receipt: SignedReceipt): [name: string, value: string][] {
  const { paid_amount, pay_asset, network, tx_hash, receipt_id } = receipt
  return [
    ['paid', shown(`${paid_amount} ${pay_asset} on ${network}`)],
    ['payment', tx_hash],
    ['receipt', receipt_id],
  ]
}
