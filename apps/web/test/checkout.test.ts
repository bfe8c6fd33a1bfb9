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
    y = await startPurchase(one)
    x = await startPurchase(one)
  })

  /** Opens the other purchase while the first waits for an answer. */
  async function leaveDuring(path: string, work: () => Promise<unknown>): Promise<void> {
    const held = page.hold(path)
    const working = work()
    await held
    const opening = one.open(y.id)
    page.answer()
    await Promise.all([working, opening])
    expect([one.purchase.value?.id, one.stage.value.at]).toEqual([y.id, 'pay'])
  }

  it('T-67 a payment of one is not made for another that is opened during it', async () => {
    const before = await market.treasury('USDC')
    await leaveDuring('/payment/prepare', async () => one.pay(await keyWallet(), legOf(x, 'USDC')))
    expect([await page.saved(x.id), await page.saved(y.id)]).toEqual([x, y])
    expect(await market.treasury('USDC')).toBe(before)
  })

  it('T-67 a sent payment is recorded only in its purchase, and found when the purchase is opened again', {
    tags: ['nightly'],
  }, async () => {
    const before = await market.treasury('USDC')
    await leaveDuring('/storage/confirm', async () => one.pay(await keyWallet(), legOf(x, 'USDC')))
    expect(await page.saved(y.id)).toEqual(y)
    await one.open(x.id)
    expect(one.stage.value.at).toBe('done')
    const { receipt } = (await page.saved(x.id))!
    expect(receipt?.pay_req_id).toBe(legOf(x, 'USDC').extra.pay_req_id)
    expect((await market.treasury('USDC')) - before).toBe(BigInt(receipt!.paid_raw))
  })

  it('T-67 a payment by phone and a pasted transaction add their receipt to the purchase that they pay', async () => {
    await one.showElsewhere()
    const tx = await payByPhone(x)
    await leaveDuring('/storage/confirm', () => one.checkElsewhere())
    expect(await page.saved(y.id)).toEqual(y)
    await one.open(x.id)
    expect((await page.saved(x.id))?.receipt?.tx_hash).toBe(tx)

    const z = await startPurchase(one)
    const pasted = await payLeg(market.chains, legOf(z, 'SOL'), { payer: 3 })
    await leaveDuring('/storage/confirm', () => one.confirmTransaction(pasted, null))
    expect(await page.saved(y.id)).toEqual(y)
    await one.open(z.id)
    await one.confirmTransaction(pasted, null)
    expect((await page.saved(z.id))?.receipt?.tx_hash).toBe(pasted)
  })

  it('T-67 a new price and a new purchase do not change a purchase that is opened during the request', async () => {
    await leaveDuring('/storage/request', () => one.renewQuote())
    expect([await page.saved(x.id), await page.saved(y.id)]).toEqual([x, y])
    await leaveDuring('/storage/request', () => one.begin({ units: 1 }))
    expect(await page.saved(y.id)).toEqual(y)
  })

  it('T-67 a tab with old data does not undo the changes of another tab', async () => {
    const other = page.newCheckout()
    await other.open(x.id)
    await other.renewQuote()
    expect((await page.saved(x.id))?.quotes).toHaveLength(2)
    await one.showElsewhere()
    expect(await page.saved(x.id)).toMatchObject({ isShownElsewhere: true, quotes: [{}, {}] })
  })

  it('T-67 a purchase is not removed while another tab works on it', { tags: ['nightly'] }, async () => {
    const other = page.newCheckout()
    const held = page.hold('/payment/prepare')
    const paying = one.pay(await keyWallet(), legOf(x, 'USDC'))
    await held
    expect(await other.remove(x.id)).toBe(false)
    page.answer()
    await paying
    expect((await page.saved(x.id))?.receipt).not.toBeNull()
    expect(await other.remove(x.id)).toBe(true)
    expect(await page.saved(x.id)).toBeNull()
  })
})

it('T-67 a receipt that cannot be saved is shown, and no further payment can be made', async () => {
  const checkout = page.newCheckout()
  const purchase = await startPurchase(checkout)
  const tx = await payLeg(market.chains, legOf(purchase, 'SOL'), { payer: 3 })
  page.fill(true)
  await checkout.confirmTransaction(tx, null)
  page.fill(false)
  expect(checkout.stage.value).toMatchObject({ at: 'done', receipt: { tx_hash: tx } })
})

it('T-67 the page searches for a payment by phone only while the gateway accepts one', async () => {
  const checkout = page.newCheckout()
  const [late, unpaid] = [await startPurchase(checkout), await startPurchase(checkout)]
  for (const { id } of [late, unpaid]) {
    await checkout.open(id)
    await checkout.showElsewhere()
  }
  const tx = await payByPhone(late)
  market.advance(30 * 3600)
  await checkout.open(late.id)
  expect((await page.saved(late.id))?.receipt?.tx_hash).toBe(tx)

  await checkout.open(unpaid.id)
  await checkout.checkElsewhere()
  expect([checkout.stage.value.at, checkout.isSearchOver.value]).toEqual(['pay', false])
  market.advance(30 * 3600)
  await checkout.checkElsewhere()
  expect([checkout.stage.value.at, checkout.isSearchOver.value]).toEqual(['pay', true])
})

describe('a purchase that a page of 1.1.0 stored', () => {
  const NAME = 'svc page purchase '

  /** Stores an unpaid purchase as 1.1.0 did: as a separate entry. */
  async function purchaseOfRelease110(change: Partial<SavedPurchase> = {}): Promise<SavedPurchase> {
    const purchase = { ...(await startPurchase(page.newCheckout())), ...change }
    for (const key of Object.keys(localStorage)) if (key.endsWith(` ${purchase.id}`)) localStorage.removeItem(key)
    localStorage.setItem(NAME + purchase.id, JSON.stringify(purchase))
    return purchase
  }

  it('T-67 is listed, opened and paid like one of this release, and stored once', async () => {
    const before = await market.treasury('USDC')
    const old = await purchaseOfRelease110({ isShownElsewhere: true })
    const { savedPurchases } = await import('../src/pages/buy/saved-purchases.ts')
    expect((await savedPurchases()).filter(({ id }) => id === old.id)).toEqual([old])
    expect(Object.keys(localStorage).filter((key) => key.endsWith(old.id))).toHaveLength(1)
    const checkout = page.newCheckout()
    await checkout.open(old.id)
    expect([checkout.purchase.value, checkout.stage.value.at]).toEqual([old, 'pay'])
    await checkout.pay(await keyWallet(), legOf(old, 'USDC'))
    const { receipt } = (await page.saved(old.id))!
    expect((await market.treasury('USDC')) - before).toBe(BigInt(receipt!.paid_raw))
    await page.newCheckout().remove(old.id)
    expect(Object.keys(localStorage).filter((key) => key.endsWith(old.id))).toEqual([])
  })

  it('T-67 is not paid again if its payment was signed', { tags: ['nightly'] }, async () => {
    const before = await market.treasury('USDC')
    const one = page.newCheckout()
    const purchase = await startPurchase(one)
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
    expect((await market.treasury('USDC')) - before).toBe(BigInt((await page.saved(purchase.id))!.receipt!.paid_raw))
  })

  it('T-67 keeps its receipt', async () => {
    const { receipt } = await paidNow()
    const old = await purchaseOfRelease110({ receipt })
    const checkout = page.newCheckout()
    await checkout.open(old.id)
    expect(checkout.stage.value).toEqual({ at: 'done', receipt })
  })

  async function paidNow(): Promise<SavedPurchase> {
    const checkout = page.newCheckout()
    const purchase = await startPurchase(checkout)
    await checkout.confirmTransaction(await payLeg(market.chains, legOf(purchase, 'SOL'), { payer: 3 }), null)
    return (await page.saved(purchase.id))!
  }
})

async function startPurchase(checkout: Checkout): Promise<SavedPurchase> {
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

/** A page without a browser: it has storage, an address, and requests whose answers can be delayed. */
async function openPage(gatewayUrl: string) {
  let isFull = false
  // As in a browser, the items are properties of the object.
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
    saved: readSaved,
    /** Delays the answers of this path; resolves when there is one. */
    hold(path: string): Promise<void> {
      const gate = { path, isReached: Promise.withResolvers<void>(), isOpen: Promise.withResolvers<void>() }
      gates.push(gate)
      return gate.isReached.promise
    },
    /** Makes every attempt to store something fail, or no longer. */
    fill(full: boolean) {
      isFull = full
    },
    /** Delivers all delayed answers. */
    answer() {
      for (const { isOpen } of gates.splice(0)) isOpen.resolve()
    },
  }
}
