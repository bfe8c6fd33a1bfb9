// @module-tag nightly

import { readFileSync } from 'node:fs'
import type { Quote } from '@svc/api/purchases'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { payLeg } from '@svc/devnet/pay-leg'
import { DEMO_PAYERS, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { holdings } from '@svc/sdk/test/market'
import type { Locator, Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { injectEvmWallet, injectStandardWallet, type StandardOptions } from './injected-wallets.ts'
import { useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, useKey, visit } from './visit.ts'

const site = useSite({ withAllAssets: true, landing: 'at once' })

/** Goes to the payment step. */
async function order(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Continue' }).click()
  await payStep(page)
}

const payStep = (page: Page) => page.getByRole('heading', { name: 'How to pay' }).waitFor()

/** Chooses one of the assets that the connected wallet or the shown method can pay. */
async function chooseLeg(page: Page, asset: string, network: string): Promise<void> {
  const choice = page.getByLabel('Pay with')
  const option = choice.locator('option', { hasText: new RegExp(`^${asset} on ${network}: `) })
  await choice.selectOption(await option.getAttribute('value'))
}

const payButton = (page: Page) => page.getByRole('button', { name: /^Pay [\d.]+ / })
const receiptShown = (page: Page) => page.getByRole('heading', { name: 'Paid. This is your receipt.' }).waitFor()

async function receiptIdOf(page: Page): Promise<string> {
  await receiptShown(page)
  return (await page.locator('text=/^rcpt_/').first().textContent()) as string
}

/** The quote of the purchase that the page shows. */
const quoteOf = (page: Page) =>
  page.evaluate(() => {
    const id = new URLSearchParams(location.hash.slice(1)).get('purchase')
    const name = Object.keys(localStorage).find((key) => key.startsWith('svc purchase ') && key.endsWith(` ${id}`))
    return JSON.parse(localStorage.getItem(name as string) as string).shown.quotes.at(-1)
  }) as Promise<Quote>

/** The USDC of the treasury on the primary chain: only this shows how often was paid. */
const treasuryUsdc = () => holdings(site.chains, { primary: TREASURY, evm: DEV_TREASURY }, 'USDC')

/** A visit with a wallet of the wallet standard, and one with a wallet of EIP-6963. */
const visitWithWallet = (options: Pick<StandardOptions, 'key' | 'sendsItself'>) =>
  visit(site, '/buy', undefined, (page) => injectStandardWallet(page, { ...options, rpcUrl: site.chains.primary.url }))
const visitWithEvmWallet = () =>
  visit(site, '/buy', undefined, (page) =>
    injectEvmWallet(page, { account: DEV_PAYERS[2]!, rpcUrl: site.chains.evm.url }),
  )

const DEVICES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
const isInSight = (element: Locator) =>
  element.evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  })

/** Compressed; wallets and chains are loaded when they are needed. */
const FIRST_LOAD_BYTES = 100_000
const USDC_PER_UNIT = 250_000n

describe('the buy page', () => {
  it('T-67 PAY-01 sells to a browser without a wallet: the demo wallet pays, and the receipt is stored', async () => {
    const { page } = await visit(site, '/')
    await page.getByRole('spinbutton', { name: 'Units' }).fill('2')
    await page.getByText('$0.50').waitFor()
    await page.getByRole('link', { name: 'Buy a locker' }).nth(1).click()
    await page.getByRole('heading', { name: 'How much storage' }).waitFor()
    await page.getByText('$0.50').waitFor()
    expect(await page.getByRole('spinbutton', { name: 'Units' }).inputValue()).toBe('2')
    await page.getByText(/^Pay with .*USDC/).click()
    await expectAccessible(page, 'buy-choose')
    // A phone shows all amounts, however long they are.
    const prices = page.getByRole('region', { name: 'The price in each asset' })
    expect(await prices.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await order(page)
    await expectAccessible(page, 'buy-pay')
    for (const [device, viewport] of Object.entries(DEVICES)) {
      await page.setViewportSize(viewport)
      expect.soft(await isInSight(page.getByRole('button', { name: /Demo wallet/ }).first()), device).toBe(true)
    }
    await page.getByRole('button', { name: /Demo wallet.*Solana/ }).click()
    await page.getByText('Network fee: at most 0.000005 SOL').waitFor()
    expect(await payButton(page).textContent()).toBe('Pay 0.5 USDC')
    for (const [device, viewport] of Object.entries(DEVICES)) {
      await page.setViewportSize(viewport)
      await page.evaluate(() => scrollTo(0, 0))
      expect.soft(await isInSight(payButton(page)), device).toBe(true)
    }
    await expectAccessible(page, 'buy-wallet')
    await payButton(page).click()
    const receiptId = await receiptIdOf(page)
    await expectAccessible(page, 'buy-receipt')
    const [file] = await Promise.all([page.waitForEvent('download'), click(page, 'Download')])
    expect(JSON.parse(readFileSync(await file.path(), 'utf8'))).toMatchObject({ receipt_id: receiptId, units: 2 })
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    await page.emulateMedia({ media: 'screen' })
    const locker = await page.getByRole('link', { name: 'Open the locker' }).getAttribute('href')
    expect(locker).toBe(`${site.url}/locker#open=${receiptId}`)

    await page.reload()
    expect(await receiptIdOf(page)).toBe(receiptId)
    await page.getByRole('link', { name: 'Buy another' }).click()
    await page.getByRole('row', { name: /2 units paid/ }).waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByRole('row', { name: /2 units paid/ }).waitFor({ state: 'detached' })
    const kept = await page.evaluate(() => Object.keys(localStorage))
    expect(kept.filter((name) => name.includes('purchase'))).toEqual([])
    expectNoErrors(page, 402)
  })

  it('T-67 ADD-17 renews a locker with the demo wallet of the other chain', async () => {
    const { page } = await visit(site, `/buy#extends=${site.locker.receipt_id}&units=3`)
    await page.getByRole('heading', { name: 'Renew a locker' }).waitFor()
    await order(page)
    await page.getByRole('button', { name: /Demo wallet.*EVM/ }).click()
    await chooseLeg(page, 'MON', 'Monad')
    await payButton(page).click()
    await receiptShown(page)
    expect(await page.getByText(site.locker.receipt_id).count()).toBe(1)
    expect(await page.getByRole('link', { name: 'Go to the locker' }).getAttribute('href')).toBe(
      `${site.url}/locker/${site.locker.locker_id}`,
    )
  })
})

describe('a wallet of the wallet standard', () => {
  it('T-67 is asked again after a refusal or a reload, and pays once even if the page is closed before sending', async () => {
    const { page, prepared: wallet } = await visitWithWallet({ key: DEMO_PAYERS[0]! })
    const before = await treasuryUsdc()
    await order(page)
    const connect = () => page.getByRole('button', { name: /Test wallet/ }).click()
    await connect()
    wallet.answer('reject')
    await payButton(page).click()
    await page.getByText('You declined in the wallet. Nothing was signed.').waitFor()
    await expectAccessible(page, 'buy-declined')

    wallet.answer(null)
    await payButton(page).click()
    await page.getByText('Check your wallet').waitFor()
    await expectAccessible(page, 'buy-dialog')
    await page.reload()
    await payStep(page)
    wallet.answer('approve')
    await connect()
    // The page is closed when the payment is signed and recorded, but not sent.
    await page.route('**/v1/storage/payment/send', () => {})
    const sending = page.waitForRequest('**/v1/storage/payment/send')
    await payButton(page).click()
    await sending
    expect(await treasuryUsdc()).toBe(before)
    await page.unrouteAll()
    await page.reload()
    const receiptId = await receiptIdOf(page)
    expect(receiptId).toMatch(/^rcpt_/)
    expect(wallet.seen).toEqual(['sign', 'sign', 'sign'])
    expect(await treasuryUsdc()).toBe(before + USDC_PER_UNIT)
  })

  it('T-67 lets the user stop waiting only after a payment has taken long', async () => {
    const { page } = await visit(site, '/buy', {}, async (page) => {
      await injectStandardWallet(page, { key: DEMO_PAYERS[0]!, rpcUrl: site.chains.primary.url })
      await page.clock.install()
    })
    await order(page)
    await page.getByRole('button', { name: /Test wallet/ }).click()
    await page.route('**/v1/storage/payment/send', () => {})
    const sending = page.waitForRequest('**/v1/storage/payment/send')
    await page.clock.pauseAt(Date.now() + 30_000)
    await payButton(page).click()
    await sending
    await page.getByText('Your payment is signed and on its way.').waitFor()
    const stop = page.getByRole('button', { name: 'This is taking too long' })
    await page.clock.runFor(14_000)
    expect(await stop.count()).toBe(0)
    await page.clock.runFor(2_000)
    await stop.waitFor()
    await page.clock.resume()
    await expectAccessible(page, 'buy-late')
    await stop.click()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Check again' }).click()
    await receiptShown(page)
  })

  it('T-67 pays once if two tabs pay at the same moment', async () => {
    const { page, prepared: wallet } = await visit(site, '/buy', {}, (page) =>
      injectStandardWallet(page.context(), { key: DEMO_PAYERS[1]!, rpcUrl: site.chains.primary.url }),
    )
    const before = await treasuryUsdc()
    await order(page)
    const other = await page.context().newPage()
    await other.goto(page.url())
    for (const tab of [page, other]) {
      await tab.getByRole('button', { name: /Test wallet/ }).click()
      await payButton(tab).waitFor()
    }
    wallet.answer(null)
    await Promise.all([page, other].map((tab) => payButton(tab).click()))
    const waiting = page
      .context()
      .pages()
      .map((tab) => tab.getByText('Another tab of this browser is working on this'))
    await Promise.any(waiting.map((words) => words.waitFor()))
    wallet.answer('approve')
    const receipts = await Promise.all([receiptIdOf(page), receiptIdOf(other)])
    expect(new Set(receipts).size).toBe(1)
    expect(wallet.seen).toEqual(['sign'])
    expect(await treasuryUsdc()).toBe(before + USDC_PER_UNIT)
  })

  it('T-67 is recorded before it is asked if it sends by itself, and its payment is found after a reload', async () => {
    const { page, prepared: wallet } = await visitWithWallet({ key: DEMO_PAYERS[2]!, sendsItself: true })
    const before = await treasuryUsdc()
    await order(page)
    await page.getByRole('button', { name: /Test wallet/ }).click()
    wallet.answer(null)
    await payButton(page).click()
    await expect.poll(() => wallet.seen).toEqual(['send'])
    await page.reload()
    await page.getByText('its answer did not arrive').waitFor()
    await expectAccessible(page, 'buy-looking')
    expect(await payButton(page).count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Nothing was sent/ }).isDisabled()).toBe(true)
    wallet.answer('approve')
    await receiptShown(page)
    expect(wallet.seen).toEqual(['send'])
    expect(await treasuryUsdc()).toBe(before + USDC_PER_UNIT)
  })
})

describe('a wallet of EIP-6963', () => {
  it('T-67 switches to the chain of the payment and pays; its transaction settles a lost answer', async () => {
    const { page, prepared: wallet } = await visitWithEvmWallet()
    await order(page)
    await page.getByRole('button', { name: /Test EVM wallet/ }).click()
    wallet.answer('reject')
    await payButton(page).click()
    await page.getByText('You declined in the wallet. Nothing was signed.').waitFor()
    wallet.answer(null)
    await payButton(page).click()
    await expect.poll(() => wallet.seen.length).toBe(2)
    await page.reload()
    await page.getByText('its answer did not arrive').waitFor()
    wallet.answer('approve')
    await expect.poll(() => wallet.sent.length).toBe(1)
    await page.getByLabel('Transaction').fill(wallet.sent[0] as string)
    await click(page, 'I have paid: get the receipt')
    await receiptShown(page)
    expect(wallet.seen).toEqual(['send', 'send'])
  })

  it('T-67 does not block if it shows no request: a late answer counts, and the user may have it asked again', async () => {
    const { page, prepared: wallet } = await visitWithEvmWallet()
    const begin = async () => {
      await order(page)
      if ((await payButton(page).count()) === 0) await page.getByRole('button', { name: /Test EVM wallet/ }).click()
      wallet.answer(null)
      await payButton(page).click()
      await click(page, 'My wallet shows no request')
      await page.getByText('its answer did not arrive').waitFor()
    }
    await begin()
    wallet.answer('approve')
    await receiptShown(page)
    expect(wallet.sent.length).toBe(1)
    await page.getByRole('link', { name: 'Buy another' }).click()
    await begin()
    await page.getByLabel(/I have checked/).check()
    await page.getByRole('button', { name: /^Nothing was sent/ }).click()
    await payButton(page).waitFor()
    wallet.answer('reject')
    await payButton(page).waitFor()
    wallet.answer('approve')
    await payButton(page).click()
    await receiptShown(page)
    expect(wallet.sent.length).toBe(2)
  })
})

describe('paying outside of the page', () => {
  it('T-67 ADD-24 a phone pays with the QR code, and the page shows the receipt without a click', async () => {
    const { page } = await visit(site, '/buy')
    await order(page)
    await page.getByRole('tab', { name: 'Phone' }).click()
    await chooseLeg(page, 'SOL', 'Solana')
    await page.getByRole('img', { name: /Solana Pay code/ }).waitFor()
    await expectAccessible(page, 'buy-phone')
    const url = new URL((await page.getByText(/^solana:/).textContent()) as string)
    const leg = (await quoteOf(page)).accepts.find(({ extra }) => extra.name === 'SOL')!
    expect([url.searchParams.get('memo'), url.searchParams.get('amount')]).toEqual([
      leg.extra.memo,
      leg.extra.human_amount,
    ])
    await payLeg(site.chains, leg, { payer: 3, reference: url.searchParams.get('reference') as string })
    await receiptShown(page)
  })

  it('T-67 the page accepts a pasted transaction, and explains why one that pays too little is refused', async () => {
    const { page } = await visit(site, '/buy')
    await order(page)
    await page.getByRole('tab', { name: 'Elsewhere' }).click()
    const leg = (await quoteOf(page)).accepts.find(
      ({ extra, network }) => extra.name === 'USDC' && network.startsWith('solana:'),
    )!
    await page.getByText(leg.payTo).waitFor()
    await expectAccessible(page, 'buy-elsewhere')
    const paste = async (text: string) => {
      await page.getByRole('tab', { name: 'Elsewhere' }).click()
      await page.getByLabel('Transaction').fill(text)
      await page.getByRole('button', { name: 'I have paid: get the receipt' }).click()
    }
    await paste('hello')
    await page.getByText('This is not a transaction id.').waitFor()
    await paste(await payLeg(site.chains, leg, { payer: 3, amount: BigInt(leg.amount) - 1n }))
    await page.getByText('The payment was made, but the gateway does not accept it').waitFor()
    const tx = await payLeg(site.chains, leg, { payer: 3 })
    await page.reload()
    await payStep(page)
    await paste(`https://explorer.solana.com/tx/${tx}?cluster=devnet`)
    await receiptShown(page)
  })
})

describe('problems', () => {
  it('T-67 PAY-44 an expired price is renewed, and a wallet without enough money gets a message', async () => {
    const { page, bytes } = await visit(site, '/buy')
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    expect(await bytes()).toBeLessThan(FIRST_LOAD_BYTES)
    await page.route('**/v1/storage/request', async (route) => {
      const response = await route.fetch()
      const quote = (await response.json()) as Quote
      quote.extensions.svc.info.expires_at = new Date(Date.now() - 1_000).toISOString()
      await route.fulfill({ response, json: quote })
    })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This price has expired. Nothing was paid from this page.').waitFor()
    await expectAccessible(page, 'buy-ended')
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Get a new price' }).click()
    await payStep(page)
    await useKey(page, toBase58(crypto.getRandomValues(new Uint8Array(32))))
    await payButton(page).click()
    await page.getByText('The wallet does not have enough money').waitFor()
    await expectAccessible(page, 'buy-short')
    await page.goto(`${site.url}/buy#purchase=${'0'.repeat(24)}`)
    await page.reload()
    await page.getByText('This purchase is not in this browser').waitFor()
    await expectAccessible(page, 'buy-gone')
  })

  it("T-67 T-61 a wallet's name and icon are shown, and run nothing", async () => {
    const { page, problems } = await visit(site, '/buy', undefined, async (page) => {
      await injectStandardWallet(page, {
        key: DEMO_PAYERS[0]!,
        rpcUrl: site.chains.primary.url,
        name: `<img src=x onerror=alert(1)>\u202Egnp.exe\n${'x'.repeat(5_000)}`,
        icon: 'https://evil.example/track.png',
      })
      await injectEvmWallet(page, {
        account: DEV_PAYERS[0]!,
        rpcUrl: site.chains.evm.url,
        name: 'Scripted',
        icon: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"%3E%3Cscript%3Ealert(1)%3C/script%3E%3C/svg%3E',
      })
    })
    page.on('dialog', (dialog) => problems.push(dialog.message()))
    await order(page)
    await page.getByRole('button', { name: '<img src=x onerror=alert(1)> gnp.exe' }).waitFor()
    await expectAccessible(page, 'buy-hostile-wallet')
    await page.getByRole('button', { name: 'Scripted' }).waitFor()
    expectNoErrors(page, 402)
  })
})
