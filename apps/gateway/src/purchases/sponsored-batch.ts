import type { Body } from '@svc/api/endpoint'
import type { SponsoredBatch, sponsoredConfirmBatch } from '@svc/api/sponsored'
import { transactionId } from '@svc/sales/read-payment'
import type { Context } from '../context.ts'
import { type SponsoredPurchase, settleSponsored } from './confirm-sponsored.ts'

export async function confirmSponsoredBatch(
  context: Context,
  body: Body<typeof sponsoredConfirmBatch>,
): Promise<SponsoredBatch> {
  const tx = transactionId({}, body.tx_sig)
  const purchases = await settleSponsored(context, {
    kind: 'batch',
    payReqIds: body.pay_req_ids,
    tx,
    ownerIdentity: body.owner_identity,
    tags: body.tags ?? [],
  })
  const results = purchases.map(positionResult)
  const succeeded = results.filter(({ ok }) => ok).length
  const { payer_pubkey, network } = (purchases[0] as SponsoredPurchase).receipt // one quote at least
  return {
    ok: succeeded === results.length,
    tx_sig: tx,
    owner_identity: payer_pubkey,
    network,
    total: results.length,
    succeeded,
    failed: results.length - succeeded,
    results,
  }
}

function positionResult({ receipt, locker }: SponsoredPurchase, position: number) {
  const isRefused = locker.outcome === 'refused'
  return {
    position,
    pay_req_id: receipt.pay_req_id,
    ok: !isRefused,
    receipt_id: receipt.receipt_id,
    locker_id: isRefused ? null : locker.locker.locker_id,
    already_provisioned: locker.outcome === 'existing',
    error: isRefused ? locker.refusal.code : null,
  }
}
