import { createSolanaRpc } from '@solana/kit'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { DEMO_PAYERS, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { paySol } from '@svc/payments/test/solana/payments'
import { toBase58 } from '@svc/protocol/bytes'
import { x402Client } from '@x402/core/client'
import { x402HTTPClient } from '@x402/core/http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buy, expectError, legOf, type Market, openMarket, payReqId, type Shop } from '../market.ts'

let market: Market
let shop: Shop
let quote: Quote
beforeAll(async () => {
  market = await openMarket()
  shop = await market.open()
  quote = await shop.quote({ units: 2 })
})
afterAll(() => market.close())

const SIGNATURE = toBase58(new Uint8Array(64).fill(7))
const HASH = `0x${'ab'.repeat(32)}`

function confirm(leg: PaymentLeg, tx: string) {
  const pay_network = leg.network === 'eip155:143' ? 'evm-mainnet' : 'primary-mainnet'
  return shop.confirm({ pay_req_id: payReqId(quote), pay_network, pay_asset: leg.extra.name }, tx)
}

async function expectRefused(leg: PaymentLeg, tx: string, reason: string) {
  expectError(await confirm(leg, tx), 402, 'payment_verification_failed', reason)
}

describe('the checks of a confirmation, in their order', () => {
  it('PAY-40 a body without pay_req_id is a 422 before any other check', async () => {
    const reply = await shop.confirm({ pay_asset: 'SOL' }, null)
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'pay_req_id'] }] })
  })

  it.each([
    ['nothing', null],
    ['63 bytes', toBase58(new Uint8Array(63).fill(7))],
    ['65 bytes', toBase58(new Uint8Array(65).fill(7))],
    ['32 bytes', toBase58(new Uint8Array(32).fill(7))],
    ['a hash without 0x', HASH.slice(2)],
    ['a hash with a digit less', HASH.slice(0, -1)],
    ['a hash with a digit more', `${HASH}a`],
    ['a hash with a letter that is none', `${HASH.slice(0, -1)}g`],
    ['a letter that base58 does not have', `${SIGNATURE.slice(0, -1)}0`],
    ['spaces inside', `${SIGNATURE.slice(0, 40)} ${SIGNATURE.slice(40)}`],
  ])(
    'PAY-42 ERR-04 AMB-49 %s in place of a transaction is a 402 tx_required, also for an unknown quote',
    async (_, tx) => {
      expectError(await shop.confirm({ pay_req_id: payReqId(quote) }, tx), 402, 'tx_required')
      expectError(await shop.confirm({ pay_req_id: 'pr_0', tx_sig: tx ?? '' }, null), 402, 'tx_required')
    },
  )

  it('PAY-43 an unknown quote is a 404, even with a leg that no quote has', async () => {
    const unknown = { pay_req_id: `pr_${'0'.repeat(32)}`, pay_network: 'nowhere', pay_asset: 'DOGE' }
    expectError(await shop.confirm(unknown, SIGNATURE), 404, 'pay_req_not_found')
  })

  it.each([
    [{ pay_network: 'evm-mainnet', pay_asset: 'usdt' }, 'USDT on evm-mainnet not in quote'],
    [{ pay_network: 'eip155:143', pay_asset: 'SOL' }, 'SOL on eip155:143 not in quote'],
    [{ pay_network: 'primary-mainnet', pay_asset: 'uſdt' }, 'USDT on primary-mainnet not in quote'],
    [{ pay_network: 'nowhere', pay_asset: 'SOL' }, 'SOL on nowhere not in quote'],
    [{ payment_chain: 'evm-mainnet', payment_asset: 'BETA' }, 'BETA on evm-mainnet not in quote'],
  ])('PAY-48 ERR-05 AMB-14 confirming a leg that is not in the quote is a 400: %j', async (leg, message) => {
    const reply = await shop.confirm({ pay_req_id: payReqId(quote), ...leg }, SIGNATURE)
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message })
  })

  it('PAY-48 confirming a leg that the gateway sells but the quote does not cover is a 400', async () => {
    const narrow = await shop.quote({ units: 1, pay_asset: 'USDC' })
    const leg = { pay_network: 'evm-mainnet', pay_asset: 'WETH' }
    const reply = await shop.confirm({ pay_req_id: payReqId(narrow), ...leg }, HASH)
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message: 'WETH on evm-mainnet not in quote' })
  })

  it.each([
    { pay_asset: 'USDC' },
    { pay_asset: 'MON' },
    { pay_asset: 'DOGE' },
    { pay_network: 'evm-mainnet' },
    { payment_chain: 'eip155:143' },
  ])('PAY-47 AMB-14 a network or asset alone that does not mean the first leg is a 400: %j', async (half) => {
    const reply = await shop.confirm({ pay_req_id: payReqId(quote), ...half }, SIGNATURE)
    expectError(reply, 400, 'leg_incomplete')
    expect(reply.body).toMatchObject({ message: 'pay_network and pay_asset must be sent together to pay another leg' })
  })

  it('PAY-49 ERR-02 a transaction that the chain does not show is a 402 tx_not_found with retry-after', async () => {
    const primary = await confirm(legOf(quote, 'USDC'), SIGNATURE)
    expectError(primary, 402, 'tx_not_found')
    expect(primary.headers.get('retry-after')).toBe('2')
    const evm = await confirm(legOf(quote, 'USDC', 'evm-mainnet'), HASH)
    expectError(evm, 402, 'tx_not_found')
    expect(evm.headers.get('retry-after')).toBe('5')
  })
})

describe.each([
  ['SOL', 'primary-mainnet'],
  ['USDC', 'primary-mainnet'],
  ['BETA', 'primary-mainnet'],
  ['MON', 'evm-mainnet'],
  ['USDT0', 'evm-mainnet'],
] as const)('PAY-50 ERR-03 a quote in %s on %s', (ticker, network) => {
  const isEvm = network === 'evm-mainnet'
  const leg = () => legOf(quote, ticker, network)

  it('T-25 ERR-03 is not paid by one atomic unit too little, and the answer says how much came and how much is asked', async () => {
    const received = BigInt(leg().amount) - 1n
    const reply = await confirm(leg(), await market.pay(leg(), { amount: received }))
    expectError(reply, 402, 'payment_verification_failed', 'amount_too_small')
    expect(reply.body).toMatchObject({
      message: expect.stringContaining(`${leg().extra.human_amount} ${ticker} are asked`),
      details: { received: String(received), required: leg().amount, pay_network: network },
    })
  })

  it('T-25 is not paid by a payment to another address', async () => {
    const stranger = await strangersAccount()
    await expectRefused(leg(), await market.pay({ ...leg(), payTo: stranger }), 'nothing_received')
  })

  it('T-25 is not paid by any amount of another asset', async () => {
    const others = quote.accepts.filter((other) => other.network === leg().network && other !== leg())
    for (const other of others)
      await expectRefused(leg(), await market.pay(other, { amount: BigInt(other.amount) * 100n }), 'nothing_received')
  })

  it("AMB-49 is not paid by a transaction id of the other network's form", async () => {
    await expectRefused(leg(), isEvm ? SIGNATURE : HASH, 'wrong_transaction_form')
  })

  it('ADD-03 T-02 is not paid by a transaction that names another quote', async () => {
    const memo = payReqId(await shop.quote())
    await expectRefused(leg(), await market.pay(leg(), { memo }), 'names_another_quote')
    const both = `${memo} ${payReqId(quote)}`
    await expectRefused(leg(), await market.pay(leg(), { memo: both }), 'names_another_quote')
  })

  it('T-01 PAY-57 is not paid by a transaction that paid another quote', async () => {
    const order = { units: 2, pay_network: network, pay_asset: ticker }
    const { tx, receipt_id } = await buy(market, shop, order, { memo: null })
    const reply = await confirm(leg(), tx)
    expectError(reply, 402, 'payment_verification_failed', 'transaction_already_used')
    expect(JSON.stringify(reply.body)).not.toContain(receipt_id)
  })

  async function strangersAccount(): Promise<string> {
    if (isEvm) return DEV_PAYERS[5]!.address
    const { address } = DEMO_PAYERS[2]!
    return ticker === 'SOL' ? address : tokenAccountOf(address, ticker as 'USDC' | 'BETA')
  }
})

describe('PAY-50 ERR-03 transactions that failed on chain', () => {
  it('T-25 a failed transaction of the primary chain pays nothing', async () => {
    const payer = await signerOf(DEMO_PAYERS[0]!)
    const tooMuch = paySol(payer, 10n ** 15n)
    const rpc = createSolanaRpc(market.chains.primary.url)
    const tx = await send(rpc, payer, [tooMuch], { skipPreflight: true })
    await expectRefused(legOf(quote, 'SOL'), tx, 'transaction_failed')
  })

  it('T-25 a reverted transaction of the EVM chain pays neither tokens nor coins', async () => {
    const payer = connectAs(DEV_PAYERS[0]!, market.chains.evm.url)
    const { EVM_TREASURY = '' } = market.chains.variables
    const words = [EVM_TREASURY.slice(2).padStart(64, '0'), 'f'.repeat(64)]
    const data = `0xa9059cbb${words.join('')}` as const // transfer(treasury, more than anybody has)
    const tx = await payer.sendTransaction({ to: TOKENS.USDC.address, data, gas: 300_000n })
    await expectRefused(legOf(quote, 'USDC', 'evm-mainnet'), tx, 'transaction_failed')
    const value = BigInt(legOf(quote, 'MON', 'evm-mainnet').amount)
    const withCoins = await payer.sendTransaction({ to: TOKENS.USDC.address, data, value, gas: 300_000n })
    await expectRefused(legOf(quote, 'MON', 'evm-mainnet'), withCoins, 'transaction_failed')
  })
})

it('ADD-02 no 402 of a confirmation makes a stock client pay again', async () => {
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

it('T-03 ADD-03 a payment older than the quote counts only within the allowed clock skew', async () => {
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

it('PAY-49 STATE-02 a quote can still be paid after a refused confirmation', async () => {
  const open = await shop.quote()
  const confirmed = (tx: string) => shop.confirm({ pay_req_id: payReqId(open) }, tx)
  expectError(await confirmed(SIGNATURE), 402, 'tx_not_found')
  const { status, body } = await confirmed(await market.pay(open.accepts[0]!))
  expect([status, body.idempotent]).toEqual([200, false])
})
