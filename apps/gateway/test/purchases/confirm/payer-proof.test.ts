// Who gets the receipt of a paid quote again.

import type { Quote } from '@svc/api/purchases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { fromHex, toBase58, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer, personalSign } from '@svc/protocol/keys'
import { receiptClaim } from '@svc/protocol/receipt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buy, expectError, type Market, openMarket, payReqId, type Shop } from '../market.ts'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await market.open()
})
afterAll(() => market.close())

const UNKNOWN_TX = `0x${'ab'.repeat(32)}`

const solanaKey = (payer: number) => {
  const key = ed25519Signer(DEMO_PAYERS[payer]!.privateKeyBytes)
  return (message: Uint8Array) => toBase58(key.sign(message))
}
const evmKey = (payer: number) => {
  const key = fromHex(DEV_PAYERS[payer]!.privateKey.slice(2), 32)!
  return (message: Uint8Array) => personalSign(message, key)
}

describe.each([
  ['primary-mainnet', solanaKey],
  ['evm-mainnet', evmKey],
] as const)('the payer of a quote on %s', (pay_network, keyOf) => {
  const claimOf = ({ extensions }: Quote, id: string) => receiptClaim(extensions.svc.info.confirm_url, id)

  it('ADD-13 T-33 gets the receipt with a signature, without naming the transaction, as often as they like', async () => {
    const { quote, receipt_id } = await buy(market, shop, { units: 1, pay_network })
    const pay_req_id = payReqId(quote)
    const payer_signature = keyOf(0)(claimOf(quote, pay_req_id))
    for (const tx of [null, null, UNKNOWN_TX]) {
      const { status, body } = await shop.confirm({ pay_req_id, payer_signature }, tx)
      expect([status, body.receipt_id, body.idempotent]).toEqual([200, receipt_id, true])
    }
  })

  it('ADD-13 T-33 is nobody who signs with another key or another text', async () => {
    const { quote, receipt_id } = await buy(market, shop, { units: 1, pay_network })
    const pay_req_id = payReqId(quote)
    const claim = claimOf(quote, pay_req_id)
    const wrong = [
      keyOf(1)(claim),
      keyOf(0)(claimOf(quote, payReqId(await shop.quote()))),
      keyOf(0)(receiptClaim('https://other.example/v1/storage/confirm', pay_req_id)),
      keyOf(0)(utf8(pay_req_id)),
      '',
      'signature',
      `0x${'00'.repeat(65)}`,
    ]
    for (const payer_signature of wrong)
      for (const tx of [null, UNKNOWN_TX]) {
        const refused = await shop.confirm({ pay_req_id, payer_signature }, tx)
        expectError(refused, 402, 'payment_verification_failed', 'quote_already_paid')
        expect(JSON.stringify(refused.body)).not.toContain(receipt_id)
      }
  })

  it('ADD-13 AMB-86 still has to name the transaction of a quote that is not paid', async () => {
    const quote = await shop.quote({ units: 1, pay_network })
    const pay_req_id = payReqId(quote)
    const payer_signature = keyOf(0)(claimOf(quote, pay_req_id))
    expectError(await shop.confirm({ pay_req_id, payer_signature }, null), 402, 'tx_required')
  })
})

it('T-10 ADD-13 who guesses at a paid quote is limited, and its payer is not', async () => {
  const limited = await market.open({ RATE_LIMIT_ADDRESS: '5' })
  const { quote, tx } = await buy(market, limited)
  const guess = () => limited.confirm({ pay_req_id: payReqId(quote), payer_signature: 'guess' }, null)
  const replies = []
  for (let i = 0; i < 5; i++) replies.push((await guess()).status)
  expect(replies).toContain(429)
  expect((await limited.confirm({ pay_req_id: payReqId(quote) }, tx)).status).toBe(200)
})
