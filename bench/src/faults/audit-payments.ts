import { isDeepStrictEqual } from 'node:util'
import type { Ledger, Payment } from '../mixed/ledger.ts'
import { readMetric } from '../mixed/metrics.ts'
import { completePurchase, confirmation } from '../mixed/purchase.ts'
import type { Audit } from './check.ts'

/** Checks that every payment has exactly one receipt, and that every acknowledged receipt is unchanged. */
export async function auditPayments({ ledger, shopper, ask, each, check, client }: Audit): Promise<void> {
  const unchanged = check('every acknowledged receipt is stored unchanged')
  await each(ledger.payments, async ({ receipt }) => {
    if (!receipt) return
    unchanged.checked++
    const { body } = await ask(`/v1/receipts/${receipt.receipt_id}`)
    if (!isDeepStrictEqual(body, receipt)) unchanged.broken.push(receipt.receipt_id)
  })

  const paid = check('every payment buys its locker, even when the response was lost')
  await each(ledger.payments, async (payment) => {
    paid.checked++
    if (!payment.receipt && isQuoteLost(ledger, payment) && (await client.send(confirmation(payment)))?.status === 404)
      return
    if (!(await completePurchase(shopper, payment))) paid.broken.push(payment.tx)
  })

  const once = check('no payment is claimed twice')
  const receipts = new Map<string, string>()
  for (const { tx, receipt } of ledger.payments) {
    if (!receipt) continue
    once.checked++
    if (receipts.has(receipt.receipt_id)) once.broken.push(tx)
    receipts.set(receipt.receipt_id, tx)
  }
  const sold = await readMetric(client, 'svc_receipts_total')
  if (sold !== receipts.size) once.broken.push(`${sold} receipts for ${receipts.size} payments`)
  const [first, ...others] = ledger.payments
  await each(others, async (payment) => {
    const claim = { ...confirmation({ leg: payment.leg, tx: first!.tx }), operation: 'second claim' }
    const answer = await client.send(claim)
    if (answer?.status === 200 && answer.body.receipt_id !== payment.receipt?.receipt_id)
      once.broken.push(`${first!.tx} pays for a second receipt`)
  })
}

/** Quotes are not in the journal. */
function isQuoteLost({ losses }: Ledger, { quotedAt }: Payment): boolean {
  return losses.some(({ since, until }) => since <= quotedAt && quotedAt <= until)
}
