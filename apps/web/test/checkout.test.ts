import { payLeg } from '@svc/devnet/pay-leg'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { solanaPayReference } from '@svc/protocol/ids'
import { signerFromSeed } from '@svc/sdk/signers'
import { type Market, openMarket } from '@svc/sdk/test/market'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Checkout } from '../src/pages/buy/checkout.ts'
import type { SavedPurchase } from '../src/pages/buy/saved-purchases.ts'
import type { ConnectedWallet } from '../src/wallets/wallet.ts'

let market: Market
let page: Page
beforeAll(async () => {
  market = await openMarket({ LATE_CONFIRM_HOURS: '48' })
  page = await openPage(market.gateway.url)
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await market.close()
})
afterEach(() => page.answer())

describe('purchases side by side', () => {
  let one: Checkout
  let x: SavedPurchase
  let y: SavedPurchase
  beforeEach(async () => {
    one = page.newCheckout()
    y = await begun(one)
    x = await begun(one)
  })

  /** Opens the other purchase while the first waits for the answer to a request. */
  async function leaveDuring(path: string, work: () => Promise<unknown>): Promise<void> {
    const held = page.hold(path)
    const working = work()
    await held
    const opening = one.open(y.id)
    page.answer()
    await Promise.all([working, opening])
    expect([one.purchase.value?.id, one.stage.value.at]).toEqual([y.id, 'pay'])
  }

  it('T-67 a payment of one is not made for another that is opened meanwhile', async () => {
    const before = await market.treasury('USDC')
    await leaveDuring('/payment/prepare', async () => one.pay(await keyWallet(), legOf(x, 'USDC')))
    expect([await page.kept(x.id), await page.kept(y.id)]).toEqual([x, y])
    expect(await market.treasury('USDC')).toBe(before)
  })

  it('T-67 a payment that was sent is on record for its purchase alone, and found when that is opened again', {
    tags: ['nightly'],
  }, async () => {
    const before = await market.treasury('USDC')
    await leaveDuring('/storage/confirm', async () => one.pay(await keyWallet(), legOf(x, 'USDC')))
    expect(await page.kept(y.id)).toEqual(y)
    await one.open(x.id)
    expect(one.stage.value.at).toBe('done')
    const { receipt } = (await page.kept(x.id))!
    expect(receipt?.pay_req_id).toBe(legOf(x, 'USDC').extra.pay_req_id)
    expect((await market.treasury('USDC')) - before).toBe(BigInt(receipt!.paid_raw))
  })

  it('T-67 a payment by phone and a pasted transaction give their receipt to the purchase that they pay', async () => {
    await one.showElsewhere()
    const tx = await payByPhone(x)
    await leaveDuring('/storage/confirm', () => one.checkElsewhere())
    expect(await page.kept(y.id)).toEqual(y)
    await one.open(x.id)
    expect((await page.kept(x.id))?.receipt?.tx_hash).toBe(tx)

    const z = await begun(one)
    const pasted = await payLeg(market.chains, legOf(z, 'SOL'), { payer: 3 })
    await leaveDuring('/storage/confirm', () => one.confirmTransaction(pasted, null))
    expect(await page.kept(y.id)).toEqual(y)
    await one.open(z.id)
    await one.confirmTransaction(pasted, null)
    expect((await page.kept(z.id))?.receipt?.tx_hash).toBe(pasted)
  })

  it('T-67 a new price, and a purchase that is begun, leave alone what is opened meanwhile', async () => {
    await leaveDuring('/storage/request', () => one.renewQuote())
    expect([await page.kept(x.id), await page.kept(y.id)]).toEqual([x, y])
    await leaveDuring('/storage/request', () => one.begin({ units: 1 }))
    expect(await page.kept(y.id)).toEqual(y)
  })

  it('T-67 a tab that is behind takes nothing back that another has noted', async () => {
    const other = page.newCheckout()
    await other.open(x.id)
    await other.renewQuote()
    expect((await page.kept(x.id))?.quotes).toHaveLength(2)
    await one.showElsewhere()
    expect(await page.kept(x.id)).toMatchObject({ isShownElsewhere: true, quotes: [{}, {}] })
  })

  it('T-67 a purchase that another tab works on is not removed under it', { tags: ['nightly'] }, async () => {
    const other = page.newCheckout()
    const held = page.hold('/payment/prepare')
    const paying = one.pay(await keyWallet(), legOf(x, 'USDC'))
    await held
    expect(await other.remove(x.id)).toBe(false)
    page.answer()
    await paying
    expect((await page.kept(x.id))?.receipt).not.toBeNull()
    expect(await other.remove(x.id)).toBe(true)
    expect(await page.kept(x.id)).toBeNull()
  })
})

it('T-67 a receipt that cannot be saved is still shown, and nothing more can be paid', async () => {
  const checkout = page.newCheckout()
  const purchase = await begun(checkout)
  const tx = await payLeg(market.chains, legOf(purchase, 'SOL'), { payer: 3 })
  page.fill(true)
  await checkout.confirmTransaction(tx, null)
  page.fill(false)
  expect(checkout.stage.value).toMatchObject({ at: 'done', receipt: { tx_hash: tx } })
})

it('T-67 a payment by phone is looked for as long as the gateway takes one, and no longer', async () => {
  const checkout = page.newCheckout()
  const [late, unpaid] = [await begun(checkout), await begun(checkout)]
  for (const { id } of [late, unpaid]) {
    await checkout.open(id)
    await checkout.showElsewhere()
  }
  const tx = await payByPhone(late)
  market.advance(30 * 3600)
  await checkout.open(late.id)
  expect((await page.kept(late.id))?.receipt?.tx_hash).toBe(tx)

  await checkout.open(unpaid.id)
  await checkout.checkElsewhere()
  expect([checkout.stage.value.at, checkout.isSearchOver.value]).toEqual(['pay', false])
  market.advance(30 * 3600)
  await checkout.checkElsewhere()
  expect([checkout.stage.value.at, checkout.isSearchOver.value]).toEqual(['pay', true])
})

describe('a purchase that a page of 1.1.0 has left behind', () => {
  const NAME = 'svc page purchase '

  /** As 1.1.0 kept it before it was paid: in an entry of its own. */
  async function leftBehind(change: Partial<SavedPurchase> = {}): Promise<SavedPurchase> {
    const kept = { ...(await begun(page.newCheckout())), ...change }
    for (const key of Object.keys(localStorage)) if (key.endsWith(` ${kept.id}`)) localStorage.removeItem(key)
    localStorage.setItem(NAME + kept.id, JSON.stringify(kept))
    return kept
  }

  it('T-67 is listed, opened and paid as one of this release, and kept once', async () => {
    const before = await market.treasury('USDC')
    const left = await leftBehind({ isShownElsewhere: true })
    const { savedPurchases } = await import('../src/pages/buy/saved-purchases.ts')
    expect((await savedPurchases()).filter(({ id }) => id === left.id)).toEqual([left])
    expect(Object.keys(localStorage).filter((key) => key.endsWith(left.id))).toHaveLength(1)
    const checkout = page.newCheckout()
    await checkout.open(left.id)
    expect([checkout.purchase.value, checkout.stage.value.at]).toEqual([left, 'pay'])
    await checkout.pay(await keyWallet(), legOf(left, 'USDC'))
    const { receipt } = (await page.kept(left.id))!
    expect((await market.treasury('USDC')) - before).toBe(BigInt(receipt!.paid_raw))
    await page.newCheckout().remove(left.id)
    expect(Object.keys(localStorage).filter((key) => key.endsWith(left.id))).toEqual([])
  })

  it('T-67 is not paid again where its payment was signed', { tags: ['nightly'] }, async () => {
    const before = await market.treasury('USDC')
    const one = page.newCheckout()
    const purchase = await begun(one)
    const held = page.hold('/storage/confirm')
    const paying = one.pay(await keyWallet(), legOf(purchase, 'USDC'))
    await held
    one.reset()
    page.answer()
    await paying
    const name = Object.keys(localStorage).find((key) => key.endsWith(` ${purchase.id}`))!
    const { shown: _, ...record } = JSON.parse(localStorage.getItem(name)!)
    expect(record.attempts).toHaveLength(1)
    localStorage.setItem(name, JSON.stringify({ ...record, receipt: null }))
    localStorage.setItem(NAME + purchase.id, JSON.stringify(purchase))
    await one.open(purchase.id)
    expect(one.stage.value.at).toBe('done')
    expect((await market.treasury('USDC')) - before).toBe(BigInt((await page.kept(purchase.id))!.receipt!.paid_raw))
  })

  it('T-67 keeps its receipt', async () => {
    const { receipt } = await paidNow()
    const left = await leftBehind({ receipt })
    const checkout = page.newCheckout()
    await checkout.open(left.id)
    expect(checkout.stage.value).toEqual({ at: 'done', receipt })
  })

  async function paidNow(): Promise<SavedPurchase> {
    const checkout = page.newCheckout()
    const purchase = await begun(checkout)
    await checkout.confirmTransaction(await payLeg(market.chains, legOf(purchase, 'SOL'), { payer: 3 }), null)
    return (await page.kept(purchase.id))!
  }
})

async function begun(checkout: Checkout): Promise<SavedPurchase> {
  await checkout.begin({ units: 1 })
  expect(checkout.stage.value).toEqual({ at: 'pay', problem: null })
  return checkout.purchase.value!
}

function legOf({ quotes }: SavedPurchase, asset: string) {
  return quotes.at(-1)!.accepts.find(({ extra }) => extra.name === asset)!
}

function payByPhone(purchase: SavedPurchase): Promise<string> {
  const leg = legOf(purchase, 'SOL')
  return payLeg(market.chains, leg, { payer: 3, reference: solanaPayReference(leg.extra.pay_req_id) })
}

async function keyWallet(): Promise<ConnectedWallet> {
  const { keyPayer } = await import('../src/wallets/payers.ts')
  const signer = signerFromSeed(DEMO_PAYERS[0]!.privateKeyBytes)
  const { address } = signer
  const paying = await keyPayer(signer, '')
  return { name: 'A key', icon: null, namespace: 'solana', address, isSilent: true, signer, ...paying }
}

type Page = Awaited<ReturnType<typeof openPage>>

/** What a browser gives to a page of the gateway: its storage, its address, and requests, whose answers can be held. */
async function openPage(gatewayUrl: string) {
  let isFull = false
  // As in a browser, its own properties are the items.
  const items: Record<string, string> = Object.create({
    getItem: (key: string) => items[key] ?? null,
    setItem(key: string, value: string) {
      if (isFull) throw new DOMException('the quota has been exceeded', 'QuotaExceededError')
      items[key] = value
    },
    removeItem(key: string) {
      delete items[key]
    },
  })
  const gates: { path: string; isReached: PromiseWithResolvers<void>; isOpen: PromiseWithResolvers<void> }[] = []
  const { fetch } = globalThis
  vi.stubGlobal('localStorage', items)
  vi.stubGlobal('location', { pathname: '/' })
  vi.stubGlobal('addEventListener', () => {})
  const { ROOT_URL } = await import('../src/address.ts')
  vi.stubGlobal('fetch', async (input: string | URL, init?: RequestInit) => {
    const path = String(input).replace(ROOT_URL.href, '/')
    const response = await fetch(path.startsWith('/') ? gatewayUrl + path : path, init)
    const gate = gates.find((one) => path.includes(one.path))
    gate?.isReached.resolve()
    await gate?.isOpen.promise
    init?.signal?.throwIfAborted()
    return response
  })
  const { createCheckout } = await import('../src/pages/buy/checkout.ts')
  const { readSaved } = await import('../src/pages/buy/saved-purchases.ts')
  return {
    newCheckout: createCheckout,
    kept: readSaved,
    /** Keeps answers of this path back; resolves when there is one. */
    hold(path: string): Promise<void> {
      const gate = { path, isReached: Promise.withResolvers<void>(), isOpen: Promise.withResolvers<void>() }
      gates.push(gate)
      return gate.isReached.promise
    },
    /** Whether nothing more can be stored. */
    fill(full: boolean) {
      isFull = full
    },
    /** Lets all answers through. */
    answer() {
      for (const { isOpen } of gates.splice(0)) isOpen.resolve()
    },
  }
}
