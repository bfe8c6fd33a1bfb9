import { createSolanaRpc } from '@solana/kit'
import type { PaymentLeg } from '@svc/api/quote'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { buy, expectError, legOf, openMarket, payReqId } from '@svc/devnet/services/market'
import { paySol } from '@svc/payments/test/solana/payments'
import { toBase58 } from '@svc/protocol/bytes'
import { x402Client } from '@x402/core/client'
import { x402HTTPClient } from '@x402/core/http'
import { describe, expect, it } from 'vitest'

const market = forAllTests(() => openMarket())
const shop = forAllTests(() => market.open())
const quote = forAllTests(() => shop.quote({ units: 2 }))

const SIGNATURE = toBase58(new Uint8Array(64).fill(7))
const HASH = `0x${'ab'.repeat(32)}`

function confirm(leg: PaymentLeg, tx: string) {
  const pay_network = leg.network === 'eip155:143' ? 'evm-mainnet' : 'primary-mainnet'
  return shop.confirm({ pay_req_id: payReqId(quote), pay_network, pay_asset: leg.extra.name }, tx)
}

describe('the order of checks in a confirmation', () => {
  it('PAY-40 a body without pay_req_id is a 422 before any other check', async () => {
    const reply = await shop.confirm({ pay_asset: 'SOL' }, null)
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'pay_req_id'] }] })
  })

  it.each([
    ['nothing', null],
    ['63 bytes', toBase58(new Uint8Array(63).fill(7))],
    ['a hash without 0x', HASH.slice(2)],
  ])('PAY-42 ERR-04 %s in place of a transaction is a 402 tx_required, even for an unknown quote', async (_, tx) => {
    expectError(await shop.confirm({ pay_req_id: payReqId(quote) }, tx), 402, 'tx_required')
    expectError(await shop.confirm({ pay_req_id: 'pr_0', tx_sig: tx ?? '' }, null), 402, 'tx_required')
  })

  it('PAY-43 an unknown quote is a 404, even with a leg that no quote has', async () => {
    const unknown = { pay_req_id: `pr_${'0'.repeat(32)}`, pay_network: 'nowhere', pay_asset: 'DOGE' }
    expectError(await shop.confirm(unknown, SIGNATURE), 404, 'pay_req_not_found')
  })

  it.each([
    [{ pay_network: 'evm-mainnet', pay_asset: 'usdt' }, 'USDT on evm-mainnet not in quote'],
    [{ pay_network: 'primary-mainnet', pay_asset: 'uſdt' }, 'USDT on primary-mainnet not in quote'],
    [{ payment_chain: 'evm-mainnet', payment_asset: 'BETA' }, 'BETA on evm-mainnet not in quote'],
  ])('PAY-48 ERR-05 confirming a leg that is not in the quote is a 400: %j', async (leg, message) => {
    const reply = await shop.confirm({ pay_req_id: payReqId(quote), ...leg }, SIGNATURE)
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message })
  })

  it.each([{ pay_asset: 'USDC' }, { payment_chain: 'eip155:143' }])(
    'PAY-47 a network or asset alone that does not match the first leg is a 400: %j',
    async (half) => {
      const reply = await shop.confirm({ pay_req_id: payReqId(quote), ...half }, SIGNATURE)
      expectError(reply, 400, 'leg_incomplete')
      expect(reply.body).toMatchObject({
        message: 'pay_network and pay_asset must be sent together to pay another leg',
      })
    },
  )

  it('PAY-49 ERR-02 a transaction that the chain does not show is a 402 tx_not_found with retry-after', async () => {
    const primary = await confirm(legOf(quote, 'USDC'), SIGNATURE)
    expectError(primary, 402, 'tx_not_found')
    expect(primary.headers.get('retry-after')).toBe('2')
    const evm = await confirm(legOf(quote, 'USDC', 'evm-mainnet'), HASH)
    expectError(evm, 402, 'tx_not_found')
    expect(evm.headers.get('retry-after')).toBe('5')
  })
})

/** Tests in `packages/payments` cover amounts, addresses and references of every asset. */
describe('PAY-50 ERR-03 a quote', () => {
  it('T-25 ERR-03 is not paid by one atomic unit too little, and the answer states the received and the asked amount', async () => {
    const leg = legOf(quote, 'USDC')
    const received = BigInt(leg.amount) - 1n
    const reply = await confirm(leg, await market.pay(leg, { amount: received }))
    expectError(reply, 402, 'payment_verification_failed', 'amount_too_small')
    expect(reply.body).toMatchObject({
      message: expect.stringContaining(`requires ${leg.extra.human_amount} USDC`),
      details: { received: String(received), required: leg.amount, pay_network: 'primary-mainnet' },
    })
  })

  it.each<[string, string, string, (leg: PaymentLeg) => Promise<string>]>([
    ['T-25', 'a payment to another address', 'nothing_received', payElsewhere],
    ['T-25', 'any amount of another asset', 'nothing_received', () => market.pay(legOf(quote, 'USDT'))],
    ['T-25', 'a transaction that failed', 'transaction_failed', failToPay],
    ['PAY-42', "a transaction id of the other network's form", 'wrong_transaction_form', async () => HASH],
    ['ADD-03 T-02', 'a transaction that names another quote', 'names_another_quote', payAnother],
    ['T-01 PAY-57', 'a transaction that paid another quote', 'transaction_already_used', payTwice],
  ])('%s is not paid by %s', async (_ids, _name, reason, pay) => {
    const leg = legOf(quote, 'SOL')
    expectError(await confirm(leg, await pay(leg)), 402, 'payment_verification_failed', reason)
  })

  function payElsewhere(leg: PaymentLeg) {
    return market.pay({ ...leg, payTo: DEMO_PAYERS[2]!.address })
  }

  async function payAnother(leg: PaymentLeg) {
    return market.pay(leg, { memo: `${payReqId(await shop.quote())} ${payReqId(quote)}` })
  }

  async function payTwice() {
    return (await buy(market, shop, { units: 2 }, { memo: null })).tx
  }

  async function failToPay() {
    const payer = await signerOf(DEMO_PAYERS[0]!)
    const rpc = createSolanaRpc(market.chains.primary.url)
    return send(rpc, payer, [paySol(payer, 10n ** 15n)], { skipPreflight: true })
  }
})

it('ADD-02 a 402 of a confirmation never makes a stock client pay again', async () => {
  const { amount } = quote.accepts[0]!
  const tooLittle = await market.pay(quote.accepts[0]!, { amount: BigInt(amount) - 1n, payer: 3 })
  const replies = await Promise.all(
    [null, SIGNATURE, HASH, tooLittle].map((tx) => shop.confirm({ pay_req_id: payReqId(quote) }, tx)),
  )
  expect(replies.map(({ status }) => status)).toEqual([402, 402, 402, 402])
  const client = new x402HTTPClient(new x402Client())
  for (const { headers, body } of replies)
    expect(() => client.getPaymentRequiredResponse((name) => headers.get(name), body)).toThrow()
})

it('T-02 ADD-03 a payment older than the quote counts only within the allowed clock skew', async () => {
  const early = await shop.quote({ units: 3 })
  const [old, older] = [
    await market.pay(early.accepts[0]!, { memo: null, payer: 1 }),
    await market.pay(early.accepts[0]!, { memo: null, payer: 2 }),
  ]
  market.clock.advance(30)
  const inTime = await shop.quote({ units: 3 })
  expect((await shop.confirm({ pay_req_id: payReqId(inTime) }, old)).status).toBe(200)
  market.clock.advance(1)
  const late = await shop.quote({ units: 3 })
  expectError(
    await shop.confirm({ pay_req_id: payReqId(late) }, older),
    402,
    'payment_verification_failed',
    'before_quote',
  )
})
