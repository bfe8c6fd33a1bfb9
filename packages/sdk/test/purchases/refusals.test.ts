import type { ErrorBody } from '@svc/api/errors'
import type { SigningKeys } from '@svc/api/info'
import type { Confirmation, Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { payLeg } from '@svc/devnet/pay-leg'
import { TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { statementSigner } from '@svc/testbed/statement-signer'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/journal.ts'
import type { Purchase } from '../../src/purchases/buy.ts'
import { signerFromEvmKey, signerFromSeed } from '../../src/signers.ts'
import { evmWallet } from '../../src/wallets/evm-wallet.ts'
import { solanaWallet } from '../../src/wallets/solana-wallet.ts'
import { abortAfterWaits } from '../buyers.ts'
import { type Buyer, type Market, openMarket } from '../market.ts'

let market: Market
const SECRET = 'the-secret-of-the-operators-tools'
beforeAll(async () => {
  market = await openMarket({ INTERNAL_SECRET: SECRET, OPERATOR_ACTORS: 'secret' })
})
afterAll(() => market.close())
beforeEach(() => {
  market.waits.length = 0
})
afterEach(() => market.proxy.behave())

let count = 0
function buy(buyer: Buyer, order: Partial<Purchase> = {}) {
  const client = market.client({ signer: buyer.signer, journal: memoryJournal(), pinnedKeys: [market.key] })
  return client.buy({ intent: `order ${++count}`, units: 1, wallet: buyer.wallet, ...order })
}

const NOT_MOVED = { name: 'PaymentError', money: 'not_moved', tx: null }

const OWN_PAYMENT = expect.stringContaining('is the wallet that would be paid')

describe('nothing is paid', () => {
  const seed = crypto.getRandomValues(new Uint8Array(32))

  it.each([
    ['SOL', /needs 0\.00\d+ SOL, holds 0: [\d.]+ \w+ is missing$/],
    ['USDC', /needs 0\.25 USDC, holds 0: [\d.]+ \w+ is missing$/],
  ])('by a wallet of the primary chain without %s', async (asset, message) => {
    const signer = signerFromSeed(seed)
    const buyer = { signer, wallet: solanaWallet({ rpcUrl: market.chains.primary.url, signer }) }
    await expect(buy(buyer, { asset })).rejects.toMatchObject({ ...NOT_MOVED, message: expect.stringMatching(message) })
  })

  it.each([
    ['MON', /needs [\d.]+ MON, holds 0: [\d.]+ \w+ is missing$/],
    ['USDC', /needs 0\.25 USDC, holds 0: [\d.]+ \w+ is missing$/],
  ])('by a wallet of the EVM chain without %s', async (asset, message) => {
    const wallet = evmWallet({ rpcUrl: market.chains.evm.url, account: `0x${Buffer.from(seed).toString('hex')}` })
    const buyer = { signer: signerFromEvmKey(seed), wallet }
    await expect(buy(buyer, { asset })).rejects.toMatchObject({ ...NOT_MOVED, message: expect.stringMatching(message) })
  })

  it.each(['SOL', 'USDC'])('in %s by the wallet of the primary chain that would be paid', async (asset) => {
    const signer = signerFromSeed(TREASURY.privateKeyBytes)
    const buyer = { signer, wallet: solanaWallet({ rpcUrl: market.chains.primary.url, signer }) }
    await expect(buy(buyer, { asset })).rejects.toMatchObject({ ...NOT_MOVED, message: OWN_PAYMENT })
  })

  it.each(['MON', 'USDC'])('in %s by the wallet of the EVM chain that would be paid', async (asset) => {
    const { privateKey } = DEV_TREASURY
    const wallet = evmWallet({ rpcUrl: market.chains.evm.url, account: privateKey })
    const buyer = { signer: signerFromEvmKey(privateKey), wallet }
    await expect(buy(buyer, { asset })).rejects.toMatchObject({ ...NOT_MOVED, message: OWN_PAYMENT })
  })

  it('when the buyer does not approve', async () => {
    const approve = ({ amount }: { amount: string }) => BigInt(amount) < 10n
    await expect(buy(market.solana(), { approve })).rejects.toMatchObject(NOT_MOVED)
  })

  it('when the wallet cannot pay, and then no approval is asked for', async () => {
    const signer = signerFromSeed(seed)
    const wallet = solanaWallet({ rpcUrl: market.chains.primary.url, signer })
    const approve = () => {
      throw new Error('asked')
    }
    await expect(buy({ signer, wallet }, { approve })).rejects.toMatchObject({
      ...NOT_MOVED,
      message: expect.stringContaining('holds 0'),
    })
  })

  it('when the signer of the client could not open the locker', async () => {
    const { wallet } = market.solana(1)
    await expect(buy({ ...market.solana(0), wallet })).rejects.toMatchObject(NOT_MOVED)
  })

  it('for another order or by another payer under an intent that is in use', async () => {
    const [mine, other] = [market.solana(0), market.solana(1)]
    const journal = memoryJournal()
    const clientOf = ({ signer }: Buyer) => market.client({ signer, journal, pinnedKeys: [market.key] })
    const buyAs = (who: Buyer, units: number) => clientOf(who).buy({ intent: 'same name', units, wallet: who.wallet })
    market.proxy.always(/confirm/, { answer: { status: 402, body: { error: 'tx_not_found', message: 'not yet' } } })
    await expect(buyAs(mine, 1)).rejects.toMatchObject({ money: 'moved' })
    market.proxy.behave()
    const before = await market.treasury('SOL')
    const others = [
      [mine, 2],
      [other, 1],
    ] as const
    for (const [who, units] of others)
      await expect(buyAs(who, units)).rejects.toMatchObject({
        money: 'may_have_moved',
        cause: { message: expect.stringContaining('started by') },
      })
    const { receipt_id } = await buyAs(mine, 1)
    for (const [who, units] of others)
      await expect(buyAs(who, units)).rejects.toMatchObject({
        ...NOT_MOVED,
        message: expect.stringMatching(`is finished: .* bought {"units":1} for .* SOL, receipt ${receipt_id}`),
      })
    expect(await market.treasury('SOL')).toBe(before)
  })

  it('PAY-55 for another order while a payment of the name can still land, but the name is free once it cannot', async () => {
    const { signer, wallet } = market.solana(2)
    const journal = memoryJournal()
    const { signal, wait } = abortAfterWaits(2)
    const clientOf = (overrides = {}) => market.client({ signer, journal, pinnedKeys: [market.key] }, overrides)
    const order = { intent: 'undelivered', asset: 'SOL' }
    const unheard = { ...wallet, send: () => Promise.reject(new Error('no connection')) }
    const lost = clientOf({ wait }).buy({ ...order, units: 1, wallet: unheard, signal })
    await expect(lost).rejects.toMatchObject({ money: 'may_have_moved' })
    const another = { ...order, units: 2, wallet }
    await expect(clientOf().buy(another)).rejects.toMatchObject({ money: 'may_have_moved' })
    const before = await market.treasury('SOL')
    market.chains.primary.chain.expireBlockhashes()
    const { receipt } = await clientOf().buy(another)
    expect(receipt.units).toBe(2)
    expect((await market.treasury('SOL')) - before).toBe(BigInt(receipt.paid_raw))
  })

  it('PAY-06 but the name of an order that was not approved is free for another order', async () => {
    const buyer = market.solana(1)
    const intent = 'undecided'
    await expect(buy(buyer, { intent, asset: 'SOL', approve: () => false })).rejects.toMatchObject(NOT_MOVED)
    expect((await buy(buyer, { intent, asset: 'USDC' })).receipt.pay_asset).toBe('USDC')
  })

  it.each([
    ['no key', 'operator'],
    ['a key of small order', '11111111111111111111111111111111'],
    ['an EVM address', `0x${'ab'.repeat(20)}`],
  ])('ADD-04 T-41 for a locker whose operator is %s, which the gateway would refuse', async (_, operator) => {
    const before = await market.treasury('SOL')
    await expect(buy(market.solana(), { operator })).rejects.toMatchObject({
      ...NOT_MOVED,
      message: expect.stringContaining('Ed25519'),
    })
    expect(await market.treasury('SOL')).toBe(before)
  })

  it.each([
    ['too many', Array.from({ length: 33 }, String)],
    ['too long', ['x'.repeat(65)]],
  ])('T-41 LOCK-09 for a locker with tags that are %s', async (_, tags) => {
    await expect(buy(market.solana(), { tags })).rejects.toMatchObject({
      ...NOT_MOVED,
      message: expect.stringContaining('tag'),
    })
  })

  it('T-171 when it has to sign for the receipt at another service', async () => {
    const { signer, wallet } = market.solana(2)
    const signed: string[] = []
    const sign = (message: Uint8Array) => {
      signed.push(new TextDecoder().decode(message))
      return signer.sign(message)
    }
    const watched = { ...signer, sign }
    const buyAnew = () =>
      market
        .client({ signer: watched, journal: memoryJournal(), pinnedKeys: [market.key] })
        .buy({ intent: 'found again', units: 1, asset: 'USDC', wallet })
    const { receipt_id } = await buyAnew()
    for (const address of ['https://other.example/v1/storage/confirm', `${market.proxy.url}/\nquote: other`]) {
      const elsewhere = ({ extensions, ...quote }: Quote) => {
        const { svc } = extensions
        return { ...quote, extensions: { svc: { ...svc, info: { ...svc.info, confirm_url: address } } } }
      }
      market.proxy.always(/storage\/request/, { lie: elsewhere })
      await expect(buyAnew()).rejects.toMatchObject({ message: expect.stringContaining('is to be confirmed at') })
      market.proxy.behave()
      expect(signed.filter((text) => text.includes(address))).toEqual([])
    }
    expect((await buyAnew()).receipt_id).toBe(receipt_id)
  })

  it('ADD-10 on a real chain to a development gateway', async () => {
    const buyer = market.solana()
    await expect(buy({ ...buyer, wallet: { ...buyer.wallet, isLocal: false } })).rejects.toMatchObject(NOT_MOVED)
  })

  it.each([
    ['the primary chain', () => market.solana(), 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'],
    ['the EVM chain', () => market.evm(), 'eip155:1'],
  ])('when the quote names another chain than the wallet uses (%s)', async (_, buyerOf, network) => {
    const isOfFamily = (leg: PaymentLeg) => leg.network.split(':')[0] === network.split(':')[0]
    const elsewhere = ({ accepts, ...quote }: Quote) => ({
      ...quote,
      accepts: accepts.filter(isOfFamily).map((leg) => ({ ...leg, network })),
    })
    market.proxy.always(/request/, { lie: elsewhere })
    const quote = await market.client().quote({ units: 1 })
    await expect(market.client().pay(quote, buyerOf().wallet)).rejects.toMatchObject({
      ...NOT_MOVED,
      message: expect.stringContaining('a node of another chain'),
    })
  })

  it.each([
    ['more units', (quote: Quote) => ({ ...quote, extensions: withUnits(quote, 3) })],
    ['no way to pay', (quote: Quote) => ({ ...quote, accepts: [] })],
    ['legs of different quotes', otherPayReqId(`pr_${'0'.repeat(32)}`)],
    ['the reference of another quote', withReference(`ref_${'0'.repeat(32)}`)],
    ['its pay_req_id for all to read', withReference(null)],
    ['a coin under the name USDC', (quote: Quote) => ({ ...quote, accepts: quote.accepts.map(calledUsdc) })],
  ])('for a quote with %s', async (_, lie) => {
    market.proxy.always(/request/, { lie })
    const before = await market.treasury('SOL')
    await expect(buy(market.solana())).rejects.toMatchObject({ ...NOT_MOVED, cause: { name: 'UntrueAnswer' } })
    expect(await market.treasury('SOL')).toBe(before)
  })
})

it('a purchase succeeds with a node that sometimes does not answer', async () => {
  const shaky = await startFaultyProxy(market.chains.primary.url)
  shaky.plan(/getEpochInfo|sendTransaction/, ...Array.from({ length: 5 }, () => ({ cut: 'request' }) as const))
  const { signer } = market.solana()
  const { receipt } = await buy({ signer, wallet: solanaWallet({ rpcUrl: shaky.url, signer }) })
  expect(receipt.payer_pubkey).toBe(signer.address)
  expect(market.waits.filter((ms) => ms === 1000).length).toBeGreaterThan(0)
  await shaky.stop()
})

describe('the client refuses', () => {
  const forger = ed25519Signer(new Uint8Array(32).fill(9))
  const forged = (receipt: SignedReceipt) => signReceipt(receipt, forger)
  const signed = (receipt: SignedReceipt) => signReceipt(receipt, statementSigner(market.gateway.context))

  it.each<[string, (receipt: SignedReceipt) => SignedReceipt]>([
    ['is signed by another key', forged],
    ['was changed after it was signed', (receipt) => ({ ...receipt, units: 100 })],
    ['has an invalid signature', (receipt) => ({ ...receipt, receipt_sig: '0'.repeat(128) })],
    ['names another payer', (receipt) => signed({ ...receipt, payer_pubkey: toBase58(forger.publicKey) })],
    ['names another quote', (receipt) => signed({ ...receipt, pay_req_id: `pr_${'1'.repeat(32)}` })],
    ['names another transaction', (receipt) => signed({ ...receipt, tx_hash: toBase58(new Uint8Array(64).fill(1)) })],
    [
      'has an id that is not derived from it',
      (receipt) => signed({ ...receipt, receipt_id: `rcpt_${'2'.repeat(32)}` }),
    ],
    ['is for fewer units', (receipt) => signed({ ...receipt, units: 0 })],
    ['is for another amount', (receipt) => signed({ ...receipt, paid_raw: '1' })],
  ])('a receipt that %s, and keeps the payment', async (_, change) => {
    const buyer = market.solana()
    const client = market.client({ signer: buyer.signer, journal: memoryJournal(), pinnedKeys: [market.key] })
    const purchase = { intent: `order ${++count}`, units: 1, wallet: buyer.wallet }
    market.proxy.always(/confirm/, {
      lie: (body: Confirmation | ErrorBody) =>
        'receipt' in body
          ? { ...body, receipt_id: change(body.receipt).receipt_id, receipt: change(body.receipt) }
          : body,
    })
    const before = await market.treasury('SOL')
    await expect(client.buy(purchase)).rejects.toMatchObject({ money: 'moved', cause: { name: 'UntrueAnswer' } })
    market.proxy.behave()
    const { receipt } = await client.buy(purchase)
    expect((await market.treasury('SOL')) - before).toBe(BigInt(receipt.paid_raw))
  })

  it.each([
    ['has an id that is not derived from the receipt', { space: { locker_id: 'locker_000000000000' } }],
    ['belongs to another owner', { owner: toBase58(forger.publicKey) }],
    ['belongs to another receipt', { receipt_id: 'rcpt_0' }],
  ])('a locker that %s', async (_, change) => {
    market.proxy.plan(/signed_provision/, { lie: (manifest) => ({ ...manifest, ...change }) })
    await expect(buy(market.solana())).rejects.toMatchObject({ money: 'moved', cause: { name: 'UntrueAnswer' } })
  })

  it('keys other than those seen first, which it accepts with a warning when none are pinned', async () => {
    const buyer = market.solana()
    const warnings: string[] = []
    const journal = memoryJournal()
    const options = { signer: buyer.signer, journal, onWarning: (text: string) => void warnings.push(text) }
    await market.client(options).buy({ intent: `order ${++count}`, units: 1, wallet: buyer.wallet })
    await market.client(options).buy({ intent: `order ${++count}`, units: 1, wallet: buyer.wallet })
    expect(warnings).toEqual([expect.stringContaining(market.key)])
    market.proxy.always(/keys|confirm/, {
      lie: (body: Confirmation | ErrorBody | SigningKeys) =>
        'receipt' in body
          ? { ...body, receipt: forged(body.receipt) }
          : { ...body, keys: [{ public_key_hex: Buffer.from(forger.publicKey).toString('hex') }] },
    })
    await expect(
      market.client(options).buy({ intent: `order ${++count}`, units: 1, wallet: buyer.wallet }),
    ).rejects.toMatchObject({ money: 'moved', cause: { name: 'UntrueAnswer' } })
  })
})

describe('confirming a payment', () => {
  const notSeen = { answer: { status: 402, body: { error: 'tx_not_found', message: 'not yet', request_id: 'req_0' } } }

  it.each([
    ['2, 4, 8, 16, 32', () => market.solana(), [2, 4, 8, 16, 32]],
    ['5, 10, 20, 40', () => market.evm(), [5, 10, 20, 40]],
  ] as const)(
    'PAY-54 ERR-02 waits %s seconds with 20 percent jitter, while the gateway does not see the transaction',
    async (_, buyerOf, seconds) => {
      const buyer = buyerOf()
      const client = market.client({ signer: buyer.signer, journal: memoryJournal(), pinnedKeys: [market.key] })
      const payment = await client.pay(await client.quote({ units: 1 }), buyer.wallet)
      market.waits.length = 0
      market.proxy.plan(/confirm/, ...seconds.map(() => notSeen))
      expect((await client.confirm(payment)).tx_hash).toBe(payment.tx)
      expect(market.waits).toHaveLength(seconds.length)
      for (const [i, ms] of market.waits.entries()) {
        expect(ms).toBeGreaterThanOrEqual(seconds[i]! * 800)
        expect(ms).toBeLessThanOrEqual(seconds[i]! * 1200)
      }
      expect(market.waits).not.toEqual(seconds.map((wait) => wait * 1000))
      market.proxy.plan(/confirm/, ...seconds.map(() => notSeen), notSeen)
      await expect(client.confirm(payment)).rejects.toMatchObject({ money: 'may_have_moved', tx: payment.tx })
    },
  )

  it('ERR-03 fails with the reason of the refusal and says whether money moved', async () => {
    const buyer = market.solana()
    const client = market.client({ signer: buyer.signer, journal: memoryJournal(), pinnedKeys: [market.key] })
    const [first, second] = [await client.quote({ units: 1 }), await client.quote({ units: 1 })]
    const { tx } = await client.pay(first, buyer.wallet)
    await expect(client.confirm({ leg: second.accepts[0]!, tx })).rejects.toMatchObject({
      name: 'PaymentError',
      money: 'moved',
      tx,
      cause: { name: 'GatewayError', details: { reason: 'names_another_quote' } },
    })
  })

  it('ADD-25 takes the receipt of a payment that was too small and that the operator accepted, and none that says more', async () => {
    const { signer } = market.solana(3)
    const client = market.client({ signer, journal: memoryJournal(), pinnedKeys: [market.key] })
    const leg = (await client.quote({ units: 1 })).accepts.find(({ extra }) => extra.name === 'SOL')!
    const amount = BigInt(leg.amount) / 2n
    const tx = await payLeg(market.chains, leg, { payer: 3, amount })
    await expect(client.confirm({ leg, tx })).rejects.toMatchObject({ money: 'moved' })
    const { pay_req_id } = leg.extra
    await attachPayment({ network: 'primary-mainnet', tx, asset: 'SOL', pay_req_id, accept_less: true })
    market.proxy.plan(/confirm/, {
      lie: ({ receipt, ...body }: Confirmation) => {
        const more = signReceipt(
          { ...receipt, paid_raw: String(BigInt(leg.amount) + 1n) },
          statementSigner(market.gateway.context),
        )
        return { ...body, receipt: more }
      },
    })
    await expect(client.confirm({ leg, tx })).rejects.toMatchObject({ name: 'UntrueAnswer' })
    expect(await client.confirm({ leg, tx })).toMatchObject({ tx_hash: tx, paid_raw: String(amount), units: 1 })
  })
})

async function attachPayment(order: object): Promise<void> {
  const response = await fetch(`${market.gateway.url}/v1/internal/operations/payments/attach`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` },
    body: JSON.stringify({ reason: 'a customer wrote', ...order }),
  })
  expect(await response.json()).toMatchObject({ ok: true })
}

function calledUsdc(leg: PaymentLeg): PaymentLeg {
  return { ...leg, extra: { ...leg.extra, name: 'USDC' } }
}

function withUnits({ extensions }: Quote, units: number): Quote['extensions'] {
  const { svc } = extensions
  return { svc: { ...svc, price_summary: { ...svc.price_summary, units } } }
}

/** Another memo than the reference of the quote; null for its `pay_req_id`. */
function withReference(reference: string | null) {
  return (quote: Quote): Quote => ({
    ...quote,
    accepts: quote.accepts.map((leg) => {
      const memo = reference ?? leg.extra.pay_req_id
      return { ...leg, extra: { ...leg.extra, memo } }
    }),
  })
}

function otherPayReqId(pay_req_id: string) {
  return (quote: Quote): Quote => {
    const [first, ...rest] = quote.accepts
    return { ...quote, accepts: [{ ...first!, extra: { ...first!.extra, pay_req_id } }, ...rest] }
  }
}
