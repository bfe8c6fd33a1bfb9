import { SUBSCRIPTION_DAYS } from '@svc/api/agent/subscriptions'
import { paymentRefused } from '@svc/payments/selling/errors'
import { toHex } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import {
  findPurchase,
  insertPurchase,
  lockPayRequest,
  lockSubscription,
  type Purchase,
  setSubscription,
} from './store.ts'
import { isActive } from './subscription-view.ts'

const TERM_SECONDS = SUBSCRIPTION_DAYS * 86_400

/**
 * Writes receipt and subscription in one transaction: thirty days from now, or from the end of an active subscription.
 * Of several concurrent calls with one payment, one writes and the others return its result. A second payment of the
 * quote is rejected.
 */
export async function extendSubscription(
  context: Pick<Context, 'database' | 'now' | 'randomBytes'>,
  receipt: SignedReceipt,
): Promise<{ purchase: Purchase; isNew: boolean }> {
  const { receipt_id, pay_req_id, network, tx_hash: tx, payer_pubkey: identity } = receipt
  return context.database.commit(async (dbTx) => {
    await lockPayRequest(dbTx, pay_req_id)
    const existing = await findPurchase(dbTx, pay_req_id)
    if (existing && existing.tx !== tx) throw paymentRefused('quote_already_paid')
    if (existing) return { purchase: existing, isNew: false }
    const current = await lockSubscription(dbTx, identity, `sub_${toHex(context.randomBytes(16))}`)
    const now = unixNow(context)
    const isExtension = isActive(context, current)
    const subscription = {
      ...current,
      starts_at: isExtension ? current.starts_at : now,
      expires_at: (isExtension ? current.expires_at : now) + TERM_SECONDS,
    }
    const purchase = { ...subscription, receipt_id, pay_req_id, network, tx, receipt }
    // The rollback also removes the new, unpaid subscription.
    if (!(await insertPurchase(dbTx, purchase))) throw paymentRefused('transaction_already_used')
    await setSubscription(dbTx, subscription)
    return { purchase, isNew: true }
  })
}
