// Who may have the receipt of a paid quote again. Its id opens files, so knowing the quote is not enough (ADD-13).

import type { IncomingHttpHeaders } from 'node:http'
import { isClaimSignedBy, receiptClaim, type SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused, txRequired } from './errors.ts'
import { findTransactionId } from './read-payment.ts'

/** What a confirmation shows of the payment: its transaction, the payer's signature, or both. */
export interface PayerProof {
  tx: string | null
  signature: string | undefined
}

interface ProofBody {
  tx_sig?: string
  payer_signature?: string
}

export function payerProof(headers: IncomingHttpHeaders, { tx_sig, payer_signature }: ProofBody): PayerProof {
  const tx = findTransactionId(headers, tx_sig)
  if (tx === null && payer_signature === undefined) throw txRequired()
  return { tx, signature: payer_signature }
}

/** Without a transaction, a quote that nobody has paid yet cannot be confirmed. */
export function requireTransaction({ tx }: PayerProof): string {
  if (tx === null) throw txRequired()
  return tx
}

/**
 * Throws unless the caller names the transaction that paid or signs as the payer. Whoever does not name it is counted
 * with `limit` first. `confirmUrl` is the address that confirms payments here.
 */
export async function requirePayerProof(
  { tx, signature }: PayerProof,
  { tx_hash, payer_pubkey, pay_req_id }: SignedReceipt,
  confirmUrl: string,
  limit: () => Promise<void>,
): Promise<void> {
  if (tx === tx_hash) return
  await limit()
  const claim = receiptClaim(confirmUrl, pay_req_id)
  if (signature === undefined || !isClaimSignedBy(payer_pubkey, claim, signature))
    throw paymentRefused('quote_already_paid')
}
