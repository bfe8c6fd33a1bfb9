// Transfer requests of Solana Pay: a payment as a URL, which wallets on phones read from a QR code.

import { paymentReference, solanaPayReference } from '@svc/protocol/ids'
import { displayAmount } from '../amounts.ts'
import type { PricedLeg } from '../x402.ts'

export interface TransferRequest {
  url: string
  /** The address that the payment names, by which it is found on chain. */
  reference: string
}

/** What a wallet shows of the seller and the goods. */
export interface ShownSeller {
  label: string
  message: string
}

/**
 * The recipient is the treasury's wallet: wallets work out the token account by themselves. The memo binds the payment
 * to the quote, and the reference only makes it be found.
 */
export function transferRequest(
  { of, asset, wallet, amount }: PricedLeg,
  payReqId: string,
  { label, message }: ShownSeller,
): TransferRequest {
  const reference = solanaPayReference(payReqId)
  const fields = {
    amount: displayAmount(amount, of.decimals),
    ...(asset !== of.network.nativeAsset && { 'spl-token': asset }),
    reference,
    label,
    message,
    memo: paymentReference(payReqId),
  }
  // Not by URLSearchParams, which writes a space as a plus sign: some wallets would show it.
  const query = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return { url: `solana:${wallet}?${query.join('&')}`, reference }
}
