// Reads and refunds unclaimed payments as the admin of a test gateway.

import type { UnclaimedPayment } from '@svc/api/operations'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { expect } from 'vitest'

export const ADMIN = { INTERNAL_SECRET: 'the-secret-of-the-admin-operations', ADMINS: 'secret' }
const HEADERS = { authorization: `Bearer ${ADMIN.INTERNAL_SECRET}` }
const PAYMENTS = '/v1/internal/operations/payments'

type Shop = Pick<TestGateway, 'send'>

export async function listUnclaimed(shop: Shop, query = ''): Promise<UnclaimedPayment[]> {
  const path = `${PAYMENTS}/unclaimed${query}`
  const { status, body } = await shop.send<{ payments: UnclaimedPayment[] }>('GET', path, undefined, HEADERS)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.payments
}

export async function unclaimedOf(shop: Shop, payReqId: string): Promise<UnclaimedPayment[]> {
  return (await listUnclaimed(shop)).filter(({ pay_req_id }) => pay_req_id === payReqId)
}

/** Records a refund of everything that is left of a payment, with its transaction. */
async function refund(shop: Shop, { network, tx, asset, left_raw }: UnclaimedPayment): Promise<void> {
  const refund_tx = tx.startsWith('0x') ? `0x${[...tx.slice(2)].reverse().join('')}` : [...tx].reverse().join('')
  const order = { network, tx, asset, amount_raw: left_raw, refund_tx, reason: 'paid twice' }
  const { status, body } = await shop.send('POST', `${PAYMENTS}/refund`, order, HEADERS)
  expect([status, body]).toMatchObject([200, { changed: true }])
}

/** Expects that one transaction has the receipt, and that the other one leaves the list after its refund. */
export async function expectReturned(
  shop: TestGateway,
  { payReqId, paidBy, second, reason = 'quote_already_paid' }: Expected,
): Promise<void> {
  const { db } = shop.gateway.context.database
  const receipts = await db.selectFrom('receipts').select('tx').where('pay_req_id', '=', payReqId).execute()
  expect(receipts.map(({ tx }) => tx)).toEqual(paidBy === null ? [] : [paidBy])
  const listed = await unclaimedOf(shop, payReqId)
  expect(listed).toMatchObject([
    { tx: second, reason, state: 'open', receipt: paidBy === null ? null : { tx: paidBy }, claimed_raw: '0' },
  ])
  const [payment] = listed as [UnclaimedPayment]
  expect(payment.left_raw).toBe(payment.received_raw)
  await refund(shop, payment)
  expect(await unclaimedOf(shop, payReqId)).toEqual([])
}

interface Expected {
  payReqId: string
  /** Null if the quote stays unpaid. */
  paidBy: string | null
  second: string
  reason?: UnclaimedPayment['reason']
}
