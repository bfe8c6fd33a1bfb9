import { withBody, withResult } from '@svc/devnet/faulty-node'
import { paymentAttCode } from '@svc/protocol/ids'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Gateway } from '../../src/gateway.ts'
import { findReceiptOfRequest } from '../../src/purchases/store.ts'
import { expectPending, type FaultyShop, openFaultyShop, READ, SEND, TAKEN } from './faulty-gateway.ts'
import { FAMILIES, PRICE, show, signFor, treasuryUsdc, walletOn } from './x402-gateway.ts'

let shop: FaultyShop
let gateway: Gateway
/** How far the gateway's clock is ahead of the chains'. */
let ahead = 0
beforeAll(async () => {
  shop = await openFaultyShop()
  gateway = await shop.open({}, { now: () => Date.now() + ahead })
})
afterEach(() => shop.calm())
afterAll(async () => {
  await gateway.stop()
  await shop.stop()
})

const QUOTE_MS = 300_000

describe.each(FAMILIES)('a payment on the %s chain whose buyer does not come back', (family) => {
  it.each([
    ['that went through has its receipt when the quote is over', () => withResult(READ[family], () => null)],
    ['that was never sent is sent then, and has it too', () => withBody(SEND[family], TAKEN[family])],
  ])('T-16 EVT-02 %s', async (_name, lie) => {
    const before = await treasuryUsdc(family, shop.chains)
    const { text, payload } = await signFor(await walletOn(family, shop.chains), gateway.url)
    shop.nodes[family].behave(lie())
    expectPending(await show(gateway.url, text))
    shop.calm()
    const { queue, database } = gateway.context
    const payReqId = String(payload.accepted.extra.pay_req_id)
    await queue.drain()
    expect(await findReceiptOfRequest(database.db, payReqId)).toBeNull()
    ahead += QUOTE_MS + 61_000
    expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    const receipt = await findReceiptOfRequest(database.db, payReqId)
    expect(receipt).toMatchObject({ paid_raw: String(PRICE) })
    expect(await shop.paidSince(family, before)).toBe(PRICE)
    expect((await show(gateway.url, text)).body.receipt).toEqual(receipt)
    const codes = database.db.selectFrom('payment_codes').select('att_code')
    const { att_code } = await codes.where('receipt_id', '=', receipt!.receipt_id).executeTakeFirstOrThrow()
    expect(att_code).toBe(paymentAttCode(receipt!))
  })

  it('is looked for again while its outcome is unknown, up to a limit', async () => {
    const { text, payload } = await signFor(await walletOn(family, shop.chains), gateway.url)
    shop.nodes[family].behave(withBody(READ[family], 'out of order'))
    expectPending(await show(gateway.url, text))
    const { queue, database } = gateway.context
    const asks = async () => {
      const { length } = shop.nodes[family].calls
      expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
      return shop.nodes[family].calls.slice(length).filter((method) => method === READ[family]).length
    }
    ahead += QUOTE_MS + 61_000
    expect(await asks()).toBeGreaterThan(0)
    ahead += 8 * 86_400_000
    expect(await asks()).toBe(0)
    const payReqId = String(payload.accepted.extra.pay_req_id)
    expect(await findReceiptOfRequest(database.db, payReqId)).toBeNull()
  })
})
