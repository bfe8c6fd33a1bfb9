// Payments as URLs for wallets on phones, which read them from a QR code: transfer requests of Solana Pay.

import type { PaymentLeg } from '@svc/api/quote'
import { solanaPayReference } from '@svc/protocol/ids'
import { atomicAmount } from '../money.ts'
import { referenceOf } from '../wallets/wallet.ts'

export type TransferRequest = NonNullable<PaymentLeg['extra']['solana_pay']>

const FIELDS = ['amount', 'spl-token', 'reference', 'label', 'message', 'memo']

/**
 * The transfer request of a leg, if it asks for exactly the same payment, else null. People see the leg, but their
 * phone pays the URL.
 */
export async function transferRequestOf(leg: PaymentLeg): Promise<TransferRequest | null> {
  const { solana_pay: request, pay_req_id, decimals } = leg.extra
  const url = request && URL.parse(request.url)
  if (!request || url?.protocol !== 'solana:') return null
  const names = [...url.searchParams.keys()]
  // If a field occurs twice, wallets may read the other one.
  if (names.some((name, i) => !FIELDS.includes(name) || names.indexOf(name) !== i)) return null
  const asks = (name: string) => url.searchParams.get(name)
  const isThisPayment =
    isAmount(asks('amount') ?? '', BigInt(leg.amount), decimals) &&
    asks('memo') === referenceOf(leg) &&
    asks('reference') === request.reference &&
    request.reference === solanaPayReference(pay_req_id)
  return isThisPayment && (await isDestination(leg, url.pathname, asks('spl-token'))) ? request : null
}

/** Wallets would truncate or refuse digits beyond those of the asset. */
function isAmount(text: string, amount: bigint, decimals: number): boolean {
  const [, fraction = ''] = text.split('.')
  return fraction.length <= decimals && atomicAmount(text, decimals) === amount
}

/** Whether a payment to this wallet arrives where the leg asks for it. */
async function isDestination({ asset, payTo }: PaymentLeg, wallet: string, mint: string | null): Promise<boolean> {
  const { NATIVE_MINT, tokenAccount } = await import('../wallets/solana-wallet.ts')
  if (asset === NATIVE_MINT) return mint === null && wallet === payTo
  // Text that is not an address has no token account.
  return mint === asset && (await tokenAccount(wallet, asset).catch(() => null)) === payTo
}
