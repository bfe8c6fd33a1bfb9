import { networkNamed } from '@svc/api/networks'
import { paymentReference } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { Answer } from '@svc/service/http/answer'
import type { Challenge } from './challenge.ts'

/** The response to a credential that paid, with the header Payment-Receipt. */
export function boughtAnswer<Body extends { receipt: SignedReceipt }>(challenge: Challenge, body: Body): Answer<Body> {
  return new Answer(200, body, paymentReceipt(challenge, body.receipt))
}

/** Names the transaction, and never the quote or our receipt, whose id opens files. */
function paymentReceipt({ method, id }: Challenge, receipt: SignedReceipt): { 'payment-receipt': string } {
  const network = networkNamed(receipt.network)
  const text = JSON.stringify({
    status: 'success',
    method,
    challengeId: id,
    reference: receipt.tx_hash,
    timestamp: receipt.confirmed_at,
    externalId: paymentReference(receipt.pay_req_id),
    ...(network?.family === 'evm' && { chainId: network.chainId }),
  })
  return { 'payment-receipt': Buffer.from(text).toString('base64url') }
}
