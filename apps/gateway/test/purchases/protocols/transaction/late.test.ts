import type { Quote } from '@svc/api/purchases'
import { createFreshDatabase } from '@svc/devnet/databases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { buy, expectError, legOf, openMarket, payReqId } from '@svc/devnet/services/market'
import { fromHex, toBase58, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer, personalSign } from '@svc/protocol/keys'
import { receiptClaim } from '@svc/protocol/receipt'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findPayRequest, findReceiptOfRequest } from '../../../../src/purchases/store.ts'

const market = forAllTests(() => openMarket())
const shop = forAllTests(() => market.open())

const HOUR = 3600
const TTL = 300
const UNKNOWN_TX = `0x${'ab'.repeat(32)}`

describe('an expired quote', () => {
  it('ERR-23 STATE-04 an unpaid quote answers 410 from its 301st second and stays unpaid', async () => {
    const quote = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
    const body = { pay_req_id: payReqId(quote) }
    market.clock.advance(TTL)
    expectError(await shop.confirm(body, UNKNOWN_TX), 402, 'tx_not_found')
    market.clock.advance(1)
    for (let i = 0; i < 2; i++) expectError(await shop.confirm(body, UNKNOWN_TX), 410, 'quote_expired')
    const { db } = shop.gateway.context.database
    expect(await findReceiptOfRequest(db, body.pay_req_id)).toBeNull()
    expect((await findPayRequest(db, body.pay_req_id))?.quote).toBe(JSON.stringify(quote))
  })

  it('AMB-06 QUOTE_TTL_SECONDS sets how long a quote is valid', async () => {
    const brief = await market.open({ QUOTE_TTL_SECONDS: '1' })
    const quote = await brief.quote()
    expect(quote.extensions.svc.terms.quote_expires_at).toBe(isoTime(1))
    market.clock.advance(2)
    const tx = await market.pay(quote.accepts[0]!)
    expectError(await brief.confirm({ pay_req_id: payReqId(quote) }, tx), 410, 'quote_expired')
  })

  it.each(['SOL primary-mainnet', 'WETH evm-mainnet'])(
    'AMB-06 a payment of %s in the last second of a quote can be confirmed for 24 hours',
    async (leg) => {
      const [pay_asset = '', pay_network = ''] = leg.split(' ')
      const quote = await shop.quote()
      market.clock.advance(TTL)
      const tx = await market.pay(legOf(quote, pay_asset, pay_network))
      market.clock.advance(24 * HOUR)
      const body = { pay_req_id: payReqId(quote), pay_network, pay_asset }
      const late = await shop.confirm(body, tx)
      expect([late.status, late.body.idempotent]).toEqual([200, false])
      expect(late.body.receipt.confirmed_at).toBe(isoTime())
    },
  )

  it('AMB-06 a payment in time cannot be confirmed after LATE_CONFIRM_HOURS', async () => {
    const strict = await market.open({ LATE_CONFIRM_HOURS: '2' })
    const quote = await strict.quote()
    const tx = await market.pay(quote.accepts[0]!)
    market.clock.advance(TTL + 2 * HOUR + 1)
    expectError(await strict.confirm({ pay_req_id: payReqId(quote) }, tx), 410, 'quote_expired')
    const none = await market.open({ LATE_CONFIRM_HOURS: '0' })
    const other = await none.quote()
    const otherTx = await market.pay(other.accepts[0]!)
    market.clock.advance(TTL + 1)
    expectError(await none.confirm({ pay_req_id: payReqId(other) }, otherTx), 410, 'quote_expired')
  })

  it('AMB-06 AMB-86 an expired quote answers 410 to an underpayment, to another leg and to an unknown leg', async () => {
    const quote = await shop.quote()
    const pay_req_id = payReqId(quote)
    const sol = quote.accepts[0]!
    const tooLittle = await market.pay(sol, { amount: BigInt(sol.amount) - 1n })
    market.clock.advance(TTL + 1)
    expectError(await shop.confirm({ pay_req_id }, tooLittle), 410, 'quote_expired')
    expectError(await shop.confirm({ pay_req_id, pay_asset: 'USDC' }, tooLittle), 410, 'quote_expired')
    const nowhere = { pay_req_id, pay_network: 'nowhere', pay_asset: 'DOGE' }
    expectError(await shop.confirm(nowhere, tooLittle), 410, 'quote_expired')
    expectError(await shop.confirm({ pay_req_id }, null), 402, 'tx_required')
  })

  it('AMB-06 an expired quote answers 410 while the chain cannot be read, and accepts the payment afterwards', {
    tags: ['nightly'],
  }, async () => {
    const database = await createFreshDatabase('sqlite')
    onTestFinished(database.drop)
    const open = await market.open({ DATABASE_URL: database.url })
    const quote = await open.quote()
    const tx = await market.pay(quote.accepts[0]!)
    await open.close()
    market.clock.advance(TTL + 1)
    const blind = await market.open({ DATABASE_URL: database.url, PRIMARY_RPC_URLS: 'http://127.0.0.1:1' })
    expectError(await blind.confirm({ pay_req_id: payReqId(quote) }, tx), 410, 'quote_expired')
    await blind.close()
    const again = await market.open({ DATABASE_URL: database.url })
    expect((await again.confirm({ pay_req_id: payReqId(quote) }, tx)).status).toBe(200)
    await again.close()
  })
})

describe('a paid quote', () => {
  it('PAY-45 STATE-03 a paid quote returns its receipt at any later time', async () => {
    const { quote, tx, receipt, receipt_id } = await buy(market, shop)
    const body = { pay_req_id: payReqId(quote) }
    for (const seconds of [0, TTL + 1, 48 * HOUR, 400 * 24 * HOUR]) {
      market.clock.advance(seconds)
      const again = await shop.confirm(body, tx)
      expect(again.status).toBe(200)
      expect(again.body).toEqual({ ...again.body, ok: true, idempotent: true, receipt_id, receipt })
    }
  })

  it('T-205 ADD-13 a paid quote returns nothing to a caller who names another transaction, which stays unused', async () => {
    const { quote, receipt } = await buy(market, shop, { units: 4 })
    const second = await market.pay(quote.accepts[0]!, { memo: null, payer: 2 })
    for (const tx of [second, UNKNOWN_TX]) {
      const refused = await shop.confirm({ pay_req_id: payReqId(quote) }, tx)
      expectError(refused, 402, 'payment_verification_failed', 'quote_already_paid')
      expect(refused.body).toMatchObject({ hint: expect.stringContaining('payer_signature') })
      for (const secret of [receipt.receipt_id, receipt.tx_hash, receipt.payer_pubkey])
        expect(JSON.stringify(refused.body)).not.toContain(secret)
    }
    const next = await shop.quote({ units: 4 })
    const { status, body } = await shop.confirm({ pay_req_id: payReqId(next) }, second)
    expect([status, body.idempotent, body.receipt.tx_hash]).toEqual([200, false, second])
  })

  it('AMB-86 a paid quote returns its receipt without a check of leg and chain, but only for a named transaction', async () => {
    const { quote, receipt, tx } = await buy(market, shop)
    const pay_req_id = payReqId(quote)
    const again = await shop.confirm({ pay_req_id, pay_network: 'nowhere', pay_asset: 'DOGE' }, tx)
    expect([again.status, again.body.receipt]).toEqual([200, receipt])
    expectError(await shop.confirm({ pay_req_id }, null), 402, 'tx_required')
  })
})

function isoTime(later = 0): string {
  return new Date(market.clock.now() + later * 1000).toISOString().replace('.000Z', 'Z')
}

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

  it('ADD-13 T-33 gets the receipt with a signature instead of the transaction, any number of times', async () => {
    const { quote, receipt_id } = await buy(market, shop, { units: 1, pay_network })
    const pay_req_id = payReqId(quote)
    const payer_signature = keyOf(0)(claimOf(quote, pay_req_id))
    for (const tx of [null, null, UNKNOWN_TX]) {
      const { status, body } = await shop.confirm({ pay_req_id, payer_signature }, tx)
      expect([status, body.receipt_id, body.idempotent]).toEqual([200, receipt_id, true])
    }
  })

  it('ADD-13 T-33 is not recognized by a signature with another key or over another text', async () => {
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
})

it('T-10 ADD-13 guesses at a paid quote are rate-limited, but its payer is not', async () => {
  const limited = await market.open({ RATE_LIMITS: 'address=5/min' })
  const { quote, tx } = await buy(market, limited)
  const guess = () => limited.confirm({ pay_req_id: payReqId(quote), payer_signature: 'guess' }, null)
  const replies = []
  for (let i = 0; i < 5; i++) replies.push((await guess()).status)
  expect(replies).toContain(429)
  expect((await limited.confirm({ pay_req_id: payReqId(quote) }, tx)).status).toBe(200)
})
