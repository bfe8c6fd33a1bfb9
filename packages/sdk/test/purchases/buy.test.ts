import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { publishedBy } from '@svc/devnet/published'
import { utf8 } from '@svc/protocol/bytes'
import { paymentReference, receiptId } from '@svc/protocol/ids'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/sha256.ts'
import { type Buyer, useMarket } from '../market.ts'

const market = useMarket()

/** Release 1.0.0 required the plain `pay_req_id` in the memo, on the legs that have one. */
function asOfRelease1({ accepts, extensions, ...quote }: Quote) {
  const { payment_reference, ...svc } = extensions.svc
  const plain = ({ extra, ...leg }: PaymentLeg) => ({
    ...leg,
    extra: extra.memo === payment_reference ? { ...extra, memo: extra.pay_req_id } : extra,
  })
  return { ...quote, accepts: accepts.map(plain), extensions: { svc } }
}

describe.each([
  ['SOL', 'SOL', () => market.solana()],
  ['USDC', 'USDC', () => market.solana()],
  ['MON', 'MON', () => market.evm()],
  ['USDC', 'USDC on EVM', () => market.evm()],
] as const)('buying with %s (%s)', (asset, held, buyerOf) => {
  it('GEN-09 PAY-47 pays the quoted amount once and opens the locker', {
    tags: ['nightly'],
  }, async () => {
    const buyer = buyerOf()
    const client = market.clientOf(buyer)
    const before = await market.treasury(held)
    const purchase = { intent: held, units: 2, provider: 'mongodb', wallet: buyer.wallet, asset } as const
    const bought = await client.buy(purchase)
    const { receipt } = bought
    expect((await market.treasury(held)) - before).toBe(BigInt(receipt.paid_raw))
    expect(receipt).toMatchObject({ pay_asset: asset, units: 2, payer_pubkey: buyer.wallet.address })
    expect(bought.receipt_id).toBe(receiptId(receipt.pay_req_id, receipt.tx_hash))
    expect(await client.buy(purchase)).toEqual(bought)
    expect((await market.treasury(held)) - before).toBe(BigInt(receipt.paid_raw))
  })

  it('ADD-03 T-33 makes a payment that names its quote by reference, so no other quote can claim it', async () => {
    const buyer = buyerOf()
    const client = market.clientOf(buyer)
    const [mine, other] = [await client.quote({ units: 1 }), await client.quote({ units: 1 })]
    const payment = await client.pay(mine, buyer.wallet, { asset })
    const published = await publishedBy(market.chains, payment.tx)
    expect(published).toContain(mine.extensions.svc.payment_reference)
    expect(published).not.toContain(payment.leg.extra.pay_req_id)
    const stolen = other.accepts.find(({ network, extra }) => network === payment.leg.network && extra.name === asset)!
    await expect(client.confirm({ leg: stolen, tx: payment.tx })).rejects.toMatchObject({
      name: 'PaymentError',
      money: 'moved',
      tx: payment.tx,
      cause: { name: 'GatewayError', details: { reason: 'names_another_quote' } },
    })
    expect((await client.confirm(payment)).tx_hash).toBe(payment.tx)
  })

  it('ADD-03 pays a quote of release 1.0.0 in its form, and the payment names its quote', async () => {
    const buyer = buyerOf()
    const client = market.clientOf(buyer)
    market.proxy.plan(/request/, { lie: asOfRelease1 })
    const quote = await client.quote({ units: 1 })
    const payment = await client.pay(quote, buyer.wallet, { asset })
    const { pay_req_id, memo } = payment.leg.extra
    const asked = memo ?? paymentReference(pay_req_id)
    expect(await publishedBy(market.chains, payment.tx)).toContain(asked)
    expect((await client.confirm(payment)).tx_hash).toBe(payment.tx)
  })

  it('PAY-55 returns the same payment if a quote is paid again', async () => {
    const buyer = buyerOf()
    const client = market.clientOf(buyer)
    const quote = await client.quote({ units: 1 })
    const before = await market.treasury(held)
    const first = await client.pay(quote, buyer.wallet, { asset })
    expect(await client.pay(quote, buyer.wallet, { asset })).toEqual(first)
    expect((await market.treasury(held)) - before).toBe(BigInt(first.leg.amount))
  })
})

describe('the idempotency keys of a purchase', () => {
  const INTENT = 'photos'

  async function keysOf(buyer: Buyer, units = 1): Promise<string[]> {
    const seen = market.proxy.seen.length
    await market.clientOf(buyer).buy({ intent: INTENT, units, wallet: buyer.wallet })
    const keys = market.proxy.seen.slice(seen).flatMap(({ headers }) => headers['idempotency-key'] ?? [])
    return [...new Set(keys)]
  }

  it('ADD-13 T-33 cannot be derived from public values: wallet, name, order and service', async () => {
    const { signer, wallet } = market.solana(3)
    const keys = await keysOf({ signer, wallet })
    const texts = [0, 1, 2, 3, 4].flatMap((count) => [
      `svc purchase ${wallet.address} ${count} ${INTENT}`,
      `${wallet.address} ${count}`,
      `${INTENT} ${count}`,
    ])
    const guesses = await Promise.all(texts.map((text) => sha256Hex(utf8(text))))
    expect(keys).toHaveLength(1)
    expect(guesses).not.toContain(keys[0])
  })

  it('ADD-13 PAY-06 differ for another wallet or order of the same name, and are stable for the same buyer', {
    tags: ['nightly'],
  }, async () => {
    const [ann, bob] = [market.solana(0), market.evm(0)]
    const all = [await keysOf(ann), await keysOf(ann, 2), await keysOf(bob)].flat()
    expect(new Set(all).size).toBe(3)
    expect(await keysOf(ann)).toEqual(all.slice(0, 1))
  })
})
