import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { payLeg } from '@svc/devnet/pay-leg'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { toBase58 } from '@svc/protocol/bytes'
import { solanaPayReference } from '@svc/protocol/ids'
import { beforeAll, describe, expect, it } from 'vitest'
import { PaymentError } from '../../src/errors.ts'
import { type Journal, memoryJournal } from '../../src/journal.ts'
import { forgetUnansweredPayment, releaseUnpaid } from '../../src/purchases/purchase.ts'
import { readPurchase } from '../../src/purchases/purchase-journal.ts'
import { type Signer, signerFromEvmKey, signerFromSeed } from '../../src/signers.ts'
import {
  evmKeyWallet,
  evmSendingWallet,
  type GatewayNode,
  primaryKeyWallet,
  primarySendingWallet,
  watchOnlyWallet,
} from '../../src/wallets/gateway-wallets.ts'
import { signWith } from '../../src/wallets/solana-wallet.ts'
import type { Wallet } from '../../src/wallets/wallet.ts'
import { abortAfterWaits } from '../buyers.ts'
import { type Held, useMarket } from '../market.ts'

let node: GatewayNode
const market = useMarket()
beforeAll(async () => {
  node = { client: market.client({}), isLocal: true }
})

const signer = signerFromSeed(DEMO_PAYERS[0]!.privateKeyBytes)
const account = DEV_PAYERS[1]!
const evmSigner = signerFromEvmKey(account.privateKey)

/** A purchase of a page: its journal and quote survive each attempt. */
async function pagePurchase(by: Signer, asset: string, journal = memoryJournal()) {
  const quote = await market.client({}).quote({ units: 1 })
  const place = { journal, baseUrl: market.proxy.url }
  return {
    place,
    quote,
    record: () => readPurchase(place, 'one'),
    pay: (wallet: Wallet, { signal, ...overrides }: Partial<ReturnType<typeof abortAfterWaits>> = {}) =>
      market
        .client({ signer: by, journal }, overrides)
        .buyQuoted({ intent: 'one', units: 1, asset, wallet, quote: async () => quote, ...(signal && { signal }) }),
  }
}

/** Pays, and returns the increase of the treasury. */
async function gain(asset: Held, work: () => Promise<unknown>): Promise<bigint> {
  const before = await market.treasury(asset)
  await work()
  return (await market.treasury(asset)) - before
}

async function sendSigned(transaction: Uint8Array): Promise<Uint8Array> {
  const signed = await signWith(signer, transaction)
  const options = { encoding: 'base64', skipPreflight: true }
  await call(market.chains.primary.url, 'sendTransaction', [Buffer.from(signed).toString('base64'), options])
  return signed.slice(1, 65)
}

describe('a wallet with the gateway as its node', () => {
  it.each([
    ['SOL', signer, () => primaryKeyWallet(node, signer)],
    ['USDC', signer, () => primaryKeyWallet(node, signer)],
    ['MON', evmSigner, () => evmKeyWallet(node, account.privateKey, evmSigner.address)],
  ] as const)(
    'T-67 ADD-24 pays %s, and resumes without its key if it was interrupted before sending',
    async (asset, by, make) => {
      const purchase = await pagePurchase(by, asset)
      const wallet = make()
      const cut = async () => new Promise<never>(() => {})
      void purchase.pay({ ...wallet, send: cut })
      await expect.poll(async () => (await purchase.record())?.attempts.length).toBe(1)
      const watched = watchOnlyWallet(node, wallet.namespace, wallet.address)
      const gained = await gain(asset, async () => {
        const receipt = await purchase.pay(watched)
        expect(receipt).toMatchObject({ pay_asset: asset, payer_pubkey: by.address })
        expect(await purchase.pay(watched)).toEqual(receipt)
      })
      expect(gained).toBe(BigInt((await purchase.record())!.receipt!.paid_raw))
    },
  )
})

describe('a wallet that sends what it signs', () => {
  it('T-67 is recorded before it is asked, and its payment is found on chain if its answer is lost', async () => {
    const purchase = await pagePurchase(signer, 'USDC')
    let asked = 0
    const wallet = primarySendingWallet(node, signer.address, async (transaction) => {
      asked++
      expect((await purchase.record())?.asked).toBeDefined()
      await sendSigned(transaction)
      throw new Error('the tab was closed')
    })
    const gained = await gain('USDC', async () => {
      await expect(purchase.pay(wallet)).rejects.toMatchObject({ money: 'may_have_moved' })
      await purchase.pay(wallet)
    })
    expect([asked, gained]).toEqual([1, BigInt((await purchase.record())!.receipt!.paid_raw)])
  })

  it('T-67 is asked again only after it declined, or if its user confirms that nothing was sent', async () => {
    const purchase = await pagePurchase(signer, 'USDC')
    let asked = 0
    const answering = (answer: (transaction: Uint8Array) => Promise<Uint8Array>) =>
      primarySendingWallet(node, signer.address, (transaction) => {
        asked++
        return answer(transaction)
      })
    const declining = answering(async () => {
      throw new PaymentError('not_moved', 'declined')
    })
    await expect(purchase.pay(declining)).rejects.toMatchObject({ money: 'not_moved' })
    const silent = answering(async () => {
      throw new Error('no answer')
    })
    await expect(purchase.pay(silent)).rejects.toMatchObject({ money: 'may_have_moved' })
    await expect(purchase.pay(answering(sendSigned), abortAfterWaits(3))).rejects.toMatchObject({
      money: 'may_have_moved',
    })
    expect(await releaseUnpaid(purchase.place, 'one', silent)).toBe(false)
    expect(asked).toBe(2)
    await forgetUnansweredPayment(purchase.place, 'one')
    expect(await gain('USDC', () => purchase.pay(answering(sendSigned)))).toBeGreaterThan(0n)
    expect(asked).toBe(3)
  })

  it('T-67 remains open if the transaction that it returned can no longer land', async () => {
    const purchase = await pagePurchase(evmSigner, 'MON')
    const client = connectAs(account, market.chains.evm.url)
    const wallet = evmSendingWallet(node, evmSigner.address, async ({ to, value, data, gas }) => {
      // Sped up in the wallet: another transaction with the same nonce pays.
      await client.sendTransaction({ to, value, data, gas })
      return `0x${'7'.repeat(64)}`
    })
    await expect(purchase.pay(wallet, abortAfterWaits(3))).rejects.toMatchObject({ money: 'may_have_moved' })
    expect((await purchase.record())?.attempts).toHaveLength(1)
  })

  it.each([
    ['on the primary chain', signer, () => primarySendingWallet(node, signer.address, silence)],
    ['on an EVM chain', evmSigner, () => evmSendingWallet(node, evmSigner.address, silence)],
  ] as const)('T-67 %s does not claim a payment that a phone made in another asset', async (_, by, make) => {
    const purchase = await pagePurchase(by, 'USDC')
    await expect(purchase.pay(make())).rejects.toMatchObject({ money: 'may_have_moved' })
    const { asked } = (await purchase.record())!
    const leg = purchase.quote.accepts.find(({ extra }) => extra.name === 'SOL')!
    await payLeg(market.chains, leg, { payer: 3, reference: solanaPayReference(leg.extra.pay_req_id) })
    const watched = watchOnlyWallet(node, make().namespace, by.address)
    await expect(purchase.pay(watched, abortAfterWaits(3))).rejects.toMatchObject({ money: 'may_have_moved' })
    expect(await purchase.record()).toMatchObject({ attempts: [], asked })
  })
})

async function silence(): Promise<never> {
  throw new Error('no answer')
}

describe('a wallet that has sent', () => {
  /** Asks a wallet that sends, and runs `meddle` on the journal between the sending and its record. */
  async function meddledPurchase(meddle: (purchase: Awaited<ReturnType<typeof pagePurchase>>) => Promise<unknown>) {
    const { journal, fill } = fillableJournal()
    const purchase = await pagePurchase(signer, 'USDC', journal)
    const asked: string[] = []
    const wallet = primarySendingWallet(node, signer.address, async (transaction) => {
      const signature = await sendSigned(transaction)
      asked.push(toBase58(signature))
      if (asked.length === 1) await meddle(purchase)
      return signature
    })
    return { purchase, wallet, asked, fill }
  }

  it('T-67 is not asked again by a tab that removed the request meanwhile, and its payment is recorded', async () => {
    const { purchase, wallet, asked } = await meddledPurchase(({ place }) => forgetUnansweredPayment(place, 'one'))
    const gained = await gain('USDC', () => purchase.pay(wallet))
    const { receipt, attempts } = (await purchase.record())!
    expect([asked, attempts.map(({ payment }) => payment.tx)]).toEqual([[receipt!.tx_hash], [receipt!.tx_hash]])
    expect(gained).toBe(BigInt(receipt!.paid_raw))
  })

  it('T-67 has its transaction in the error if the journal is full, and is not asked again', async () => {
    const { purchase, wallet, asked, fill } = await meddledPurchase(async () => fill(true))
    const gained = await gain('USDC', async () => {
      const failed = purchase.pay(wallet)
      await expect(failed).rejects.toMatchObject({ name: 'PaymentError', money: 'may_have_moved' })
      await expect(failed).rejects.toMatchObject({ tx: asked[0] })
      fill(false)
      await purchase.pay(wallet)
    })
    const { receipt } = (await purchase.record())!
    expect([asked, gained]).toEqual([[receipt!.tx_hash], BigInt(receipt!.paid_raw)])
  })

  it('T-67 has its payment recorded after the caller stopped waiting, while a later request remains open', async () => {
    const purchase = await pagePurchase(evmSigner, 'MON')
    const client = connectAs(account, market.chains.evm.url)
    const answers: PromiseWithResolvers<void>[] = []
    const wallet = evmSendingWallet(node, evmSigner.address, async ({ to, value, data, gas }) => {
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      await answer.promise
      return client.sendTransaction({ to, value, data, gas })
    })
    const ask = async (count: number) => {
      const left = new AbortController()
      const paying = purchase.pay(wallet, { signal: left.signal })
      await expect.poll(() => answers.length).toBe(count)
      left.abort()
      await expect(paying).rejects.toMatchObject({ money: 'may_have_moved' })
    }
    await ask(1)
    await forgetUnansweredPayment(purchase.place, 'one')
    await ask(2)
    // The user rejects the first request. The second remains open until it is approved.
    answers[0]!.reject(new PaymentError('not_moved', 'declined'))
    await new Promise(setImmediate)
    expect((await purchase.record())?.asked).toBeDefined()
    answers[1]!.resolve()
    await expect.poll(async () => (await purchase.record())?.attempts.length).toBe(1)
    expect((await purchase.record())?.asked).toBeUndefined()
    const receipt = await purchase.pay(watchOnlyWallet(node, 'eip155', evmSigner.address))
    expect(receipt.pay_asset).toBe('MON')
  })
})

/** A journal whose storage can be full. */
function fillableJournal() {
  const inner = memoryJournal()
  let isFull = false
  const journal: Journal = {
    get: inner.get,
    async put(key, value, expected) {
      if (isFull) throw new DOMException('the quota has been exceeded', 'QuotaExceededError')
      return inner.put(key, value, expected)
    },
  }
  return {
    journal,
    fill(full: boolean) {
      isFull = full
    },
  }
}
