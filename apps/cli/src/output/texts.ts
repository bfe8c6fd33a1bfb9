import type { Anchor } from '@svc/api/attestations'
import type { Terms } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { bytesText, counted } from './quantities.ts'
import { shown } from './shown.ts'

/** The payment and its receipt. */
export function paidPairs(receipt: SignedReceipt): [name: string, value: string][] {
  const { paid_amount, pay_asset, network, tx_hash, receipt_id } = receipt
  return [
    ['paid', shown(`${paid_amount} ${pay_asset} on ${network}`)],
    ['payment', tx_hash],
    ['receipt', receipt_id],
  ]
}

/** `2Ana… in slot 123, final` */
export function anchorText(anchor: Anchor | null): string {
  if (anchor === null) return 'not published'
  const { tx, slot, finalized = false } = anchor
  return shown(`${tx}${slot === null ? '' : ` in slot ${slot}`}, ${finalized ? 'final' : 'confirmed'}`)
}

/** `1.00 GiB, 1,000 files, 365 days` */
export function termsText({ storage_limit_bytes, file_limit, ttl_days }: Terms): string {
  return [bytesText(storage_limit_bytes), counted(file_limit, 'file'), counted(ttl_days, 'day')].join(', ')
}
