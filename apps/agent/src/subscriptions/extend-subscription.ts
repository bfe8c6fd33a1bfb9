import { SUBSCRIPTION_DAYS } from '@svc/api/agent/subscriptions'
import { toHex } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused } from '@svc/sales/payment-errors'
import { type Context, unixNow } from '../context.ts'
import { type Bought, findBought, insertBought, lockPayRequest, lockSubscription, setSubscription } from './store.ts'
import { isRunning } from './subscription-view.ts'

const TERM_SECONDS = SUBSCRIPTION_DAYS * 86_400

/**
 * Receipt and subscription in one transaction: thirty days from now, or from the end of those that still run. Of many
 * who try at once, one writes; the others get what it wrote.
 */
export async function extendSubscription(
  context: Pick<Context, 'database' | 'now' | 'randomBytes'>,
  receipt: SignedReceipt,
): Promise<{ bought: Bought; isNew: boolean }> {
  const { receipt_id, pay_req_id, network, tx_hash: tx, payer_pubkey: identity } = receipt
  return context.database.db.transaction().execute(async (dbTx) => {
    await lockPayRequest(dbTx, pay_req_id)
    const existing = await findBought(dbTx, pay_req_id)
    if (existing) return { bought: existing, isNew: false }
    const current = await lockSubscription(dbTx, identity, `sub_${toHex(context.randomBytes(16))}`)
    const now = unixNow(context)
    const goesOn = isRunning(context, current)
    const subscription = {
      ...current,
      starts_at: goesOn ? current.starts_at : now,
      expires_at: (goesOn ? current.expires_at : now) + TERM_SECONDS,
    }
    const bought = { ...subscription, receipt_id, pay_req_id, network, tx, receipt }
    // Rolled back, with the subscription that nobody has paid.
    if (!(await insertBought(dbTx, bought))) throw paymentRefused('transaction_already_used')
    await setSubscription(dbTx, subscription)
    return { bought, isNew: true }
  })
}
