import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buy, payReqId } from './market.ts'
import {
  OWNER,
  openSponsoredMarket,
  quotes,
  type SponsoredMarket,
  type SponsoredShop,
} from './sponsored/sponsored-market.ts'

let sponsored: SponsoredMarket
let shop: SponsoredShop
beforeAll(async () => {
  sponsored = await openSponsoredMarket()
  shop = await sponsored.open()
})
afterAll(() => sponsored.close())

/** The payment codes by receipt, after the queue has run. */
async function codes(): Promise<Map<string, number>> {
  const { queue, database } = shop.gateway.context
  expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
  const rows = await database.db.selectFrom('payment_codes').selectAll().execute()
  return new Map(rows.map(({ receipt_id, att_code }) => [receipt_id, att_code]))
}

describe('a purchase', () => {
  it('EVT-02 AMB-79 the payment of a purchase is attested once, however often it is confirmed', async () => {
    const quote = await shop.quote()
    const tx = await sponsored.market.pay(quote.accepts[0]!)
    const claim = { pay_req_id: payReqId(quote) }
    const replies = await Promise.all(Array.from({ length: 5 }, () => shop.confirm(claim, tx)))
    const { receipt } = replies[0]!.body
    await shop.confirm(claim, tx)
    const { waiting } = (await shop.gateway.context.queue.counts())['attest-payment']!
    expect(waiting).toBe(1)
    expect((await codes()).get(receipt.receipt_id)).toBe(paymentAttCode(receipt))
  })

  it('EVT-02 every payment of a sponsored batch is attested', async () => {
    const before = await codes()
    const single = await buy(sponsored.market, shop, { units: 1, pay_network: 'evm-mainnet' })
    const { ids, sum } = await quotes(shop, 3)
    const tx_sig = await sponsored.market.pay(sum)
    const { body } = await shop.sponsorBatch({ pay_req_ids: ids, tx_sig, owner_identity: OWNER })
    const after = await codes()
    expect(after.size - before.size).toBe(4)
    const receipts = await Promise.all(
      [single.receipt.receipt_id, ...body.results.map(({ receipt_id }) => receipt_id)].map(
        async (id) => (await shop.get<SignedReceipt>(`/v1/receipts/${id}`)).body,
      ),
    )
    expect(receipts.map(({ receipt_id }) => after.get(receipt_id!))).toEqual(receipts.map(paymentAttCode))
  })
})
