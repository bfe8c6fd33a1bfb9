import type { ErrorBody } from '@svc/api/errors'
import type { Confirmation, Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { statementSigner } from '@svc/devnet/services/statement-signer'
import { blockUsdc, pauseUsdc } from '@svc/devnet/usdc-issuer'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/journal.ts'
import type { Purchase } from '../../src/purchases/buy.ts'
import { signerFromEvmKey, signerFromSeed } from '../../src/signers.ts'
import { evmWallet } from '../../src/wallets/evm-wallet.ts'
import { solanaWallet } from '../../src/wallets/solana-wallet.ts'
import { abortAfterWaits } from '../buyers.ts'
import { type Buyer, useMarket } from '../market.ts'

const market = useMarket()

const onPrimary = (seed: Uint8Array): Buyer => {
  const signer = signerFromSeed(seed)
  return { signer, wallet: solanaWallet({ rpcUrl: market.chains.primary.url, signer }) }
}
const onEvm = (account: `0x${string}`): Buyer => ({
  signer: signerFromEvmKey(account),
  wallet: evmWallet({ rpcUrl: market.chains.evm.url, account }),
})

let count = 0
const buy = (buyer: Buyer, order: Partial<Purchase> = {}, journal = memoryJournal()) =>
  market.clientOf(buyer, journal).buy({ intent: `order ${++count}`, units: 1, wallet: buyer.wallet, ...order })

const NOT_MOVED = { name: 'PaymentError', money: 'not_moved', tx: null }

describe('buy', () => {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  const poor = { primary: () => onPrimary(seed), evm: () => onEvm(`0x${Buffer.from(seed).toString('hex')}`) }
  const own = { primary: () => onPrimary(TREASURY.privateKeyBytes), evm: () => onEvm(DEV_TREASURY.privateKey) }

  it.each([
    ['a wallet without SOL', 'SOL', poor.primary, /needs 0\.00\d+ SOL, holds 0: [\d.]+ \w+ is missing$/],
    ['a wallet without USDC', 'USDC', poor.primary, /needs 0\.25 USDC, holds 0: [\d.]+ \w+ is missing$/],
    ['a wallet without MON', 'MON', poor.evm, /needs [\d.]+ MON, holds 0: [\d.]+ \w+ is missing$/],
    ['a wallet without USDC on EVM', 'USDC', poor.evm, /needs 0\.25 USDC, holds 0: [\d.]+ \w+ is missing$/],
    ['the wallet that receives the payment in SOL', 'SOL', own.primary, /is the wallet that receives the payment/],
    ['the wallet that receives the payment in USDC', 'USDC', own.primary, /is the wallet that receives the payment/],
    ['the wallet that receives the payment in MON', 'MON', own.evm, /is the wallet that receives the payment/],
    ['the wallet that receives the payment in USDC on EVM', 'USDC', own.evm, /is the wallet that receives the payment/],
  ])('pays nothing from %s, and requests no approval', async (_, asset, buyerOf, message) => {
    const approve = () => {
      throw new Error('asked')
    }
    const refusal = { ...NOT_MOVED, message: expect.stringMatching(message) }
    await expect(buy(buyerOf(), { asset, approve })).rejects.toMatchObject(refusal)
  })

  it('pays nothing if the signer of the client could not open the locker', async () => {
    const { wallet } = market.solana(1)
    await expect(buy({ ...market.solana(0), wallet })).rejects.toMatchObject(NOT_MOVED)
  })

  it('pays nothing for another order or payer under an intent that is in use', async () => {
    const [mine, other] = [market.solana(0), market.solana(1)]
    const journal = memoryJournal()
    const buyAs = (who: Buyer, units: number) => buy(who, { intent: 'same name', units }, journal)
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

  it('PAY-55 pays nothing for another order while a payment of the name can still land; then the name is free', async () => {
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

  it.each([
    ['has paused it', 'evm', () => pauseUsdc(market.chains), /paused/],
    ['blocks the buyer', 'evm', (buyer: string) => blockUsdc(market.chains, buyer), /blacklisted/],
    ['froze the account', 'solana', (buyer: string) => blockUsdc(market.chains, buyer), /has frozen/],
  ] as const)('pays no USDC whose issuer %s, until it is released', async (intent, family, block, message) => {
    const buyer = market[family](3)
    const release = await block(buyer.signer.address)
    const order = { intent, asset: 'USDC' }
    await expect(buy(buyer, order)).rejects.toMatchObject({ ...NOT_MOVED, message: expect.stringMatching(message) })
    await release()
    expect((await buy(buyer, order)).receipt.pay_asset).toBe('USDC')
  })

  it('PAY-06 pays nothing for an order that was not approved, and its name is then free for another order', async () => {
    const buyer = market.solana(1)
    const intent = 'undecided'
    await expect(buy(buyer, { intent, asset: 'SOL', approve: () => false })).rejects.toMatchObject(NOT_MOVED)
    expect((await buy(buyer, { intent, asset: 'USDC' })).receipt.pay_asset).toBe('USDC')
  })

  it.each<[string, Partial<Purchase>, string]>([
    [
      'ADD-04 T-67 pays nothing for an operator whose key the gateway would refuse',
      { operator: '1'.repeat(32) },
      'Ed25519',
    ],
    ['T-67 LOCK-09 pays nothing with too many tags', { tags: Array.from({ length: 33 }, String) }, 'tag'],
    ['T-67 LOCK-09 pays nothing with a tag that is too long', { tags: ['x'.repeat(65)] }, 'tag'],
  ])('%s', async (_, order, why) => {
    const refusal = { ...NOT_MOVED, message: expect.stringContaining(why) }
    await expect(buy(market.solana(), order)).rejects.toMatchObject(refusal)
  })

  it('T-55 pays nothing if the buyer must sign for the receipt at another service', async () => {
    const { signer, wallet } = market.solana(2)
    const signed: string[] = []
    const sign = (message: Uint8Array) => {
      signed.push(new TextDecoder().decode(message))
      return signer.sign(message)
    }
    const watched = { signer: { ...signer, sign }, wallet }
    const buyAnew = () => buy(watched, { intent: 'found again', asset: 'USDC' })
    const { receipt_id } = await buyAnew()
    for (const address of ['https://other.example/v1/storage/confirm', `${market.proxy.url}/\nquote: other`]) {
      const elsewhere = ({ extensions, ...quote }: Quote) => {
        const { svc } = extensions
        return { ...quote, extensions: { svc: { ...svc, info: { ...svc.info, confirm_url: address } } } }
      }
      market.proxy.always(/storage\/request/, { lie: elsewhere })
      await expect(buyAnew()).rejects.toMatchObject({ message: expect.stringContaining('must be confirmed at') })
      market.proxy.behave()
      expect(signed.filter((text) => text.includes(address))).toEqual([])
    }
    expect((await buyAnew()).receipt_id).toBe(receipt_id)
  })

  it('ADD-10 pays nothing on a real chain to a development gateway', async () => {
    const buyer = market.solana()
    await expect(buy({ ...buyer, wallet: { ...buyer.wallet, isLocal: false } })).rejects.toMatchObject(NOT_MOVED)
  })

  it.each([
    ['the primary chain', () => market.solana(), 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'],
    ['the EVM chain', () => market.evm(), 'eip155:1'],
  ])('pays nothing if the quote names another chain than the wallet uses (%s)', async (_, buyerOf, network) => {
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
    ['its pay_req_id in public', withReference(null)],
    ['a coin under the name USDC', (quote: Quote) => ({ ...quote, accepts: quote.accepts.map(calledUsdc) })],
  ])('pays nothing for a quote with %s', async (_, lie) => {
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

describe('buy with false answers', () => {
  const forger = ed25519Signer(new Uint8Array(32).fill(9))
  const signed = (receipt: SignedReceipt) => signReceipt(receipt, statementSigner(market.gateway.context))

  it.each<[string, (receipt: SignedReceipt) => SignedReceipt]>([
    ['is signed by another key', (receipt) => signReceipt(receipt, forger)],
    ['names another payer', (receipt) => signed({ ...receipt, payer_pubkey: toBase58(forger.publicKey) })],
    ['names another quote', (receipt) => signed({ ...receipt, pay_req_id: `pr_${'1'.repeat(32)}` })],
    ['names another transaction', (receipt) => signed({ ...receipt, tx_hash: toBase58(new Uint8Array(64).fill(1)) })],
    [
      'has an id that is not derived from it',
      (receipt) => signed({ ...receipt, receipt_id: `rcpt_${'2'.repeat(32)}` }),
    ],
    ['is for fewer units', (receipt) => signed({ ...receipt, units: 0 })],
    ['is for another amount', (receipt) => signed({ ...receipt, paid_raw: '1' })],
  ])('refuses a receipt that %s, and keeps the payment in the journal', async (_, change) => {
    const journal = memoryJournal()
    const intent = `order ${++count}`
    market.proxy.always(/confirm/, {
      lie: (body: Confirmation | ErrorBody) =>
        'receipt' in body
          ? { ...body, receipt_id: change(body.receipt).receipt_id, receipt: change(body.receipt) }
          : body,
    })
    const before = await market.treasury('SOL')
    const lied = buy(market.solana(), { intent }, journal)
    await expect(lied).rejects.toMatchObject({ money: 'moved', cause: { name: 'UntrueAnswer' } })
    market.proxy.behave()
    const { receipt } = await buy(market.solana(), { intent }, journal)
    expect((await market.treasury('SOL')) - before).toBe(BigInt(receipt.paid_raw))
  })

  it.each([
    ['has an id that is not derived from the receipt', { space: { locker_id: 'locker_000000000000' } }],
    ['belongs to another owner', { owner: toBase58(forger.publicKey) }],
    ['belongs to another receipt', { receipt_id: 'rcpt_0' }],
  ])('refuses a locker that %s', async (_, change) => {
    market.proxy.plan(/signed_provision/, { lie: (manifest) => ({ ...manifest, ...change }) })
    await expect(buy(market.solana())).rejects.toMatchObject({ money: 'moved', cause: { name: 'UntrueAnswer' } })
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
      const client = market.clientOf(buyer)
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

  it('ADD-25 accepts a receipt for less than the quoted amount, which the admin may allow, but not for more', async () => {
    const buyer = market.solana(3)
    const client = market.clientOf(buyer)
    const payment = await client.pay(await client.quote({ units: 1 }), buyer.wallet, { asset: 'SOL' })
    const confirmWithPaid = (paid_raw: string) => {
      market.proxy.plan(/confirm/, {
        lie: ({ receipt, ...body }: Confirmation) => ({
          ...body,
          receipt: signReceipt({ ...receipt, paid_raw }, statementSigner(market.gateway.context)),
        }),
      })
      return client.confirm(payment)
    }
    expect(await confirmWithPaid('7')).toMatchObject({ tx_hash: payment.tx, paid_raw: '7', units: 1 })
    await expect(confirmWithPaid(`${BigInt(payment.leg.amount) + 1n}`)).rejects.toMatchObject({ name: 'UntrueAnswer' })
  })
})

function calledUsdc(leg: PaymentLeg): PaymentLeg {
  return { ...leg, extra: { ...leg.extra, name: 'USDC' } }
}

function withUnits({ extensions }: Quote, units: number): Quote['extensions'] {
  const { svc } = extensions
  return { svc: { ...svc, price_summary: { ...svc.price_summary, units } } }
}

/** Replaces the reference of the quote as memo. Null means its `pay_req_id`. */
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
