import type { Body } from '@svc/api/endpoint'
import type { SponsoredConfirmation, sponsoredConfirm } from '@svc/api/sponsored'
import { transactionId } from '@svc/sales/read-payment'
import type { Context } from '../context.ts'
import { lockerRecord } from '../lockers/locker-record.ts'
import { confirmation } from './confirm-payment.ts'
import { type SponsoredPurchase, settleSponsored } from './confirm-sponsored.ts'

export async function confirmSponsored(
  context: Context,
  body: Body<typeof sponsoredConfirm>,
): Promise<SponsoredConfirmation> {
  const [purchase] = await settleSponsored(context, {
    kind: 'single',
    payReqIds: [body.pay_req_id],
    tx: transactionId({}, body.tx_sig),
    ownerIdentity: body.owner_identity,
    tags: body.tags ?? [],
  })
  const { receipt, isNew, locker } = purchase as SponsoredPurchase // one quote, one purchase
  if (locker.outcome === 'refused') throw locker.refusal
  return {
    ...confirmation(receipt, !isNew),
    locker: lockerRecord(locker.locker),
    locker_id: locker.locker.locker_id,
    already_provisioned: locker.outcome === 'existing',
    owner_identity: receipt.payer_pubkey,
  }
}
