// Payments as URLs, which wallets on phones read from a QR code: Solana Pay.

import type { PaymentLeg } from '@svc/api/quote'
import { referenceOf } from '../wallets/wallet.ts'

export interface SolanaPayRequest {
  /** All legs of the quote. */
  accepts: readonly PaymentLeg[]
  leg: PaymentLeg
  /** Base58 of 32 random bytes, under which the payment can be found on chain. */
  reference: string
  /** Who is paid, for people. */
  label: string
}

/**
 * The Solana Pay URL of a leg. Wallets take the owner of a token account and work out the account themselves, so a token
 * can be paid only if the quote tells that owner and the account is the one that the leg asks for; else null.
 */
export async function solanaPayUrl({ accepts, leg, reference, label }: SolanaPayRequest): Promise<string | null> {
  const { NATIVE_MINT, tokenAccount } = await import('../wallets/solana-wallet.ts')
  const isToken = leg.asset !== NATIVE_MINT
  // The coin itself is paid to the owner.
  const owner = accepts.find(({ network, asset }) => network === leg.network && asset === NATIVE_MINT)?.payTo
  const recipient = isToken ? owner : leg.payTo
  if (recipient === undefined || (isToken && (await tokenAccount(recipient, leg.asset)) !== leg.payTo)) return null
  const query = new URLSearchParams({
    amount: leg.extra.human_amount,
    ...(isToken && { 'spl-token': leg.asset }),
    reference,
    label,
    memo: referenceOf(leg),
  })
  return `solana:${recipient}?${query}`
}
