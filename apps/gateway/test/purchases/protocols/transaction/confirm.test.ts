import { ASSETS } from '@svc/api/assets'
import { createFreshDatabase } from '@svc/devnet/databases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { buy, expectError, legOf, openMarket, payReqId } from '@svc/devnet/services/market'
import { paymentAttCode } from '@svc/protocol/ids'
import { describe, expect, it, onTestFinished } from 'vitest'

const market = forAllTests(() => openMarket())
const shop = forAllTests(() => market.open())

const LEGS = ASSETS.map(({ ticker, network }) => [ticker, network.name] as const)

describe('the confirmation of a payment', () => {
  it.each(LEGS)(
    'PAY-40 STATE-02 confirming a payment in %s on %s returns a receipt',
    async (pay_asset, pay_network) => {
      const quote = await shop.quote({ units: 3 })
      const leg = legOf(quote, pay_asset, pay_network)
      const tx = await market.pay(leg, { payer: 1 })
      const { status, headers, body } = await shop.confirm({ pay_req_id: payReqId(quote), pay_network, pay_asset }, tx)
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('no-store')
      const paid = {
        receipt_id: expect.stringMatching(/^rcpt_[0-9a-f]{32}$/),
        paid_amount: leg.extra.human_amount,
        paid_raw: leg.amount,
        pay_asset,
        network: pay_network,
      }
      expect(body).toEqual({ ok: true, idempotent: false, ...paid, receipt: expect.objectContaining(paid) })
      expect(body.receipt.receipt_id).toBe(body.receipt_id)
      const isEvm = pay_network === 'evm-mainnet'
      expect(body.receipt.payer_pubkey).toBe(isEvm ? DEV_PAYERS[1]!.address.toLowerCase() : DEMO_PAYERS[1]!.address)
      expect(body.receipt.units).toBe(3)
    },
  )

  it('PAY-47 a confirmation without a leg means the first leg of the quote', async () => {
    const { pay_asset, network } = await buy(market, shop)
    expect([pay_asset, network]).toEqual(['SOL', 'primary-mainnet'])
    const evm = await buy(market, shop, { units: 1, pay_network: 'evm-mainnet', pay_asset: 'USDC' })
    expect([evm.pay_asset, evm.network]).toEqual(['USDC', 'evm-mainnet'])
  })

  it('PAY-50 PAY-51 the receipt of an overpayment contains both amounts as text', async () => {
    const quote = await shop.quote()
    const leg = quote.accepts[0]!
    const tx = await market.pay(leg, { amount: BigInt(leg.amount) + 1n })
    const { body } = await shop.confirm({ pay_req_id: payReqId(quote) }, tx)
    expect(body.receipt).toMatchObject({ paid_raw: leg.amount, received_raw: String(BigInt(leg.amount) + 1n) })
  })

  it.each(['primary-mainnet', 'evm-mainnet'])(
    'ADD-03 a payment on %s with a plain pay_req_id, as older clients write it, pays only that quote',
    async (pay_network) => {
      const [mine, other] = [await shop.quote({ units: 1, pay_network }), await shop.quote({ units: 1, pay_network })]
      const tx = await market.pay(mine.accepts[0]!, { memo: payReqId(mine) })
      const theft = await shop.confirm({ pay_req_id: payReqId(other) }, tx)
      expectError(theft, 402, 'payment_verification_failed', 'names_another_quote')
      expect((await shop.confirm({ pay_req_id: payReqId(mine) }, tx)).status).toBe(200)
    },
  )

  it('PAY-30 a payment is checked against its quote after rate, price and treasury change', async () => {
    const database = await createFreshDatabase('sqlite')
    onTestFinished(database.drop)
    const before = await market.open({ DATABASE_URL: database.url })
    const quote = await before.quote({ units: 2 })
    await before.close()
    market.chains.rates.setPrice('SOL', '40')
    market.clock.advance(120)
    const after = await market.open({
      DATABASE_URL: database.url,
      UNIT_PRICES_USD: 'gcs=99',
      PRIMARY_TREASURY: DEMO_PAYERS[3]!.address,
    })
    expect((await after.quote({ units: 2 })).accepts[0]).not.toMatchObject({ amount: quote.accepts[0]!.amount })
    const tx = await market.pay(quote.accepts[0]!)
    const { status, body } = await after.confirm({ pay_req_id: payReqId(quote) }, tx)
    expect(status).toBe(200)
    expect(body.paid_raw).toBe(quote.accepts[0]!.amount)
    await after.close()
    market.chains.rates.setPrice('SOL', '150.25')
  })
})

describe('the transaction of a confirmation', () => {
  const otherTx = `0x${'ab'.repeat(32)}`

  it('PAY-41 the header takes precedence over the body when both are well-formed', async () => {
    const quote = await shop.quote()
    const tx = await market.pay(quote.accepts[0]!)
    const refused = await shop.confirm({ pay_req_id: payReqId(quote), tx_sig: tx }, otherTx)
    expectError(refused, 402, 'payment_verification_failed', 'wrong_transaction_form')
    const { status, body } = await shop.confirm({ pay_req_id: payReqId(quote), tx_sig: otherTx }, tx)
    expect([status, body.receipt.tx_hash]).toEqual([200, tx])
  })

  it.each(['', '0x12', 'a, b'])(
    'PAY-42 a malformed header ("%s") is ignored when tx_sig is well-formed',
    async (header) => {
      const quote = await shop.quote()
      const tx_sig = await market.pay(quote.accepts[0]!)
      expect((await shop.confirm({ pay_req_id: payReqId(quote), tx_sig }, header)).status).toBe(200)
    },
  )

  it('PAY-41 T-01 an EVM hash is the same transaction in any letter case and with surrounding spaces', async () => {
    const quote = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
    const tx = await market.pay(quote.accepts[0]!)
    const shouted = ` 0X${tx.slice(2).toUpperCase()} `
    const { status, body } = await shop.confirm({ pay_req_id: payReqId(quote), tx_sig: shouted }, null)
    expect([status, body.receipt.tx_hash]).toEqual([200, tx])
    const second = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
    const theft = await shop.confirm({ pay_req_id: payReqId(second), tx_sig: shouted }, null)
    expectError(theft, 402, 'payment_verification_failed', 'names_another_quote')
  })
})

describe('the leg of a confirmation', () => {
  it.each([{ pay_network: 'primary-mainnet' }, { payment_asset: 'sol' }])(
    'PAY-47 a network or asset alone selects the first leg: %j',
    async (half) => {
      const quote = await shop.quote()
      const tx = await market.pay(quote.accepts[0]!)
      expect((await shop.confirm({ pay_req_id: payReqId(quote), ...half }, tx)).status).toBe(200)
    },
  )

  it('PAY-40 PAY-47 a leg may be named by aliases in any letter case, but pay_network and pay_asset take precedence', async () => {
    const quote = await shop.quote()
    const pay_req_id = payReqId(quote)
    const wrong = { payment_chain: 'primary-mainnet', payment_asset: 'SOL' }
    const tx = await market.pay(legOf(quote, 'USDT0', 'evm-mainnet'))
    const aliases = await shop.confirm({ pay_req_id, payment_chain: 'eip155:143', payment_asset: 'usdt0' }, tx)
    expect([aliases.status, aliases.body.pay_asset, aliases.body.network]).toEqual([200, 'USDT0', 'evm-mainnet'])
    const next = await shop.quote()
    const nextTx = await market.pay(legOf(next, 'MON', 'evm-mainnet'))
    const named = { pay_req_id: payReqId(next), pay_network: 'evm-mainnet', pay_asset: 'Mon', ...wrong }
    expect((await shop.confirm(named, nextTx)).status).toBe(200)
  })
})

it('EVT-02 ATT-18 the payment of a purchase is attested once, even when it is confirmed repeatedly', async () => {
  const { queue, database } = shop.gateway.context
  await queue.drain()
  const quote = await shop.quote()
  const tx = await market.pay(quote.accepts[0]!)
  const replies = await Promise.all(Array.from({ length: 5 }, () => shop.confirm({ pay_req_id: payReqId(quote) }, tx)))
  const { receipt } = replies[0]!.body
  expect((await queue.counts())['attest-payment']?.waiting).toBe(1)
  expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
  const codes = database.db.selectFrom('payment_codes').select('att_code').where('receipt_id', '=', receipt.receipt_id)
  expect(await codes.execute()).toEqual([{ att_code: paymentAttCode(receipt) }])
})
