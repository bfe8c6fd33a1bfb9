// @module-tag nightly

import type { AdminGrowth } from '@svc/api/operations'
import type { Quote } from '@svc/api/purchases'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { payLeg } from '@svc/devnet/pay-leg'
import { writable } from '@svc/devnet/writable'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, useKey, visit } from './visit.ts'

const SECRET = 'the-secret-of-the-operators-tools'
const REASON = 'a customer wrote <b>ticket 7</b>'
const DAY = 86_400
/** The start of the day. It is read before the gateway starts, so that seeded values are older than counted ones. */
const TODAY = Math.floor(Date.now() / 1000 / DAY) * DAY
/** Compressed, as for every page. */
const FIRST_LOAD_BYTES = 100_000

let issuer: OidcIssuer
const site = useSite({
  async variables() {
    issuer = await startOidcIssuer()
    return {
      INTERNAL_SECRET: SECRET,
      INTERNAL_OIDC: `issuer=${issuer.issuer},audience=${TEST_AUDIENCE},jwks=${issuer.jwksUrl},subject=watcher`,
      ADMINS: 'secret',
    }
  },
})
beforeAll(async () => {
  await buy(2)
  await seedPast()
})
afterAll(() => issuer.stop())

async function quote(units: number): Promise<{ id: string; leg: Quote['accepts'][number] }> {
  const body = JSON.stringify({ units, pay_network: 'primary-mainnet', pay_asset: 'USDC' })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${site.url}/v1/storage/request`, { method: 'POST', headers, body })
  const { accepts, extensions } = (await answer.json()) as Quote
  return { id: extensions.svc.info.pay_req_id, leg: accepts[0]! }
}

async function buy(units: number): Promise<void> {
  const { id, leg } = await quote(units)
  const tx = await payLeg(site.chains, leg)
  const answer = await fetch(`${site.url}/v1/storage/confirm`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x402-tx': tx },
    body: JSON.stringify({ pay_req_id: id }),
  })
  expect(answer.status).toBe(200)
}

/** Adds numbers that a gateway counted before this test. */
async function seedPast(): Promise<void> {
  const { db } = site.gateway.context.database
  const days = Array.from({ length: 28 }, (_, i) => TODAY - (i + 1) * DAY)
  const each = { period: 'day', purchases: 2, renewals: 1, units: 3, paid: '1500000' } as const
  const sales = days.flatMap((start, i) => [
    {
      ...each,
      start,
      network: 'primary-mainnet',
      asset: 'SOL',
      provider: 'storj',
      usd_micros: 250_000 * (1 + (i % 11)),
    },
    { ...each, start, network: 'evm-mainnet', asset: 'MON', provider: 'gcs', usd_micros: 250_000 * (1 + (i % 7)) },
  ])
  await writable(db).insertInto('sales_periods').values(sales).execute()
  const samples = days.map((sampled_at, i) => ({ sampled_at, lockers: 90 - i, files: 900, bytes: 3e9, purchases: 4 }))
  await writable(db).insertInto('growth_samples').values(samples).execute()
}

async function deadJob(): Promise<string> {
  const { queue, database } = site.gateway.context
  const receipt_id = `rcpt_${'0'.repeat(32)}`
  await writable(database.db)
    .transaction()
    .execute((tx) => queue.enqueue(tx, 'attest', { receipt_id }))
  await queue.drain()
  return (await queue.deadLetters())[0]!.id
}

/** Collects the texts that are drawn on canvases in `window.drawn`. */
const watchCanvases = () => {
  const drawn: string[] = []
  const { fillText } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    drawn.push(text)
    fillText.call(this, text, ...place)
  }
  Object.assign(window, { drawn })
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await click(page, 'Open')
}

async function open(hash: string, token = SECRET) {
  const visited = await visit(site, `/admin#${hash}`)
  await signIn(visited.page, token)
  return visited
}

const go = (page: Page, hash: string) =>
  page.evaluate((to) => {
    location.hash = to
  }, hash)

describe('the sign-in', () => {
  it('T-26 shows nothing without an identity, and keeps the token only in memory unless the tab may store it', async () => {
    const { page, bytes } = await visit(site, '/operator#sales')
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('/v1/internal') && asked.push(request.url()))
    await page.getByRole('heading', { name: 'Admin' }).waitFor()
    expect(page.url()).toMatch(/\/admin#sales$/)
    expect(await page.getByRole('navigation', { name: 'Sections' }).count()).toBe(0)
    await expectAccessible(page, 'admin-sign-in')
    await signIn(page, 'a token ünsendable')
    await page.getByText('This is not a token').waitFor()
    await signIn(page, 'not-the-secret')
    await page.getByRole('alert').getByText('does not accept this token').waitFor()
    expect(await page.getByRole('navigation', { name: 'Sections' }).count()).toBe(0)
    expect(new Set(asked)).toEqual(new Set([`${site.url}/v1/internal/operations/identity`]))

    await signIn(page, SECRET)
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor()
    await page.getByRole('slider').waitFor()
    expect(await bytes()).toBeLessThan(FIRST_LOAD_BYTES)
    const stored = () =>
      page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))
    expect(await stored()).toBe('[{},{},""]')
    expect(asked.every((url) => !url.includes(SECRET))).toBe(true)
    await page.reload()
    await page.getByLabel('Token', { exact: true }).waitFor()
    await page.getByLabel('Remember for this tab').check()
    const file = { name: 'token.txt', mimeType: 'text/plain', buffer: Buffer.from(`${SECRET}\n`) }
    await page.getByLabel('From a file').setInputFiles(file)
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor()
    // A small laptop shows it without scrolling.
    await page.setViewportSize({ width: 1280, height: 800 })
    const { y, height } = (await page.getByRole('button', { name: 'Sign out' }).boundingBox())!
    expect(y + height).toBeLessThanOrEqual(800)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token', { exact: true }).waitFor()
    expect(await stored()).toBe('[{},{},""]')
    expect(await page.getByRole('main').textContent()).not.toContain('$')
    expectNoErrors(page, 401)
  })

  it('T-26 the session ends when the token expires, and an identity without rights to act sees no buttons', async () => {
    const id = await deadJob()
    const token = issuer.token({ sub: 'watcher' })
    const { page } = await open(`jobs?job=${id}`, token)
    await page.getByText('Read only').waitFor()
    await page.getByText('receipt_not_found').first().waitFor()
    await page.getByText('oidc:watcher').waitFor()
    const actions = page.getByRole('main').getByRole('button', { name: /…$/ })
    expect(await actions.count()).toBe(0)
    await go(page, 'jobs')
    await page.getByRole('cell', { name: id }).waitFor()
    expect(await actions.count()).toBe(0)
    await go(page, `lockers?locker=${site.locker.locker_id}`)
    await page.getByRole('heading', { name: site.locker.locker_id }).waitFor()
    expect(await actions.count()).toBe(0)
    expectNoErrors(page, 401)

    await page.route('**/v1/internal/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } }),
    )
    await go(page, 'audit')
    await page.getByRole('alert').getByText('does not accept this token').waitFor()
    expect(await page.getByRole('main').textContent()).not.toContain(site.locker.locker_id)
  })
})

const SECTIONS: [name: string, ready: (page: Page) => Locator][] = [
  ['overview', (page) => page.getByText('Sold in total')],
  ['sales', (page) => page.getByRole('cell', { name: 'MON' })],
  ['treasury', (page) => page.getByRole('cell', { name: 'USDC' })],
  ['lockers', (page) => page.getByRole('region', { name: 'All lockers, table' }).getByText(site.locker.locker_id)],
  ['attestations', (page) => page.getByRole('heading', { name: 'Daily budgets' })],
  ['jobs', (page) => page.getByRole('heading', { name: 'By kind' })],
  ['providers', (page) => page.getByRole('cell', { name: 'Monad' })],
  ['keys', (page) => page.getByRole('cell', { name: 'Receipts and statements' })],
  ['prices', (page) => page.getByRole('heading', { name: 'Prices that quotes use' })],
  ['routes', (page) => page.getByText('/v1/storage/request')],
  [
    'payments',
    (page) => page.getByRole('region', { name: 'Accepted payments, table' }).getByText(site.locker.receipt_id),
  ],
  ['audit', (page) => page.getByText('The audit trail is intact')],
]

describe('every section', () => {
  it.each(SECTIONS)(
    'T-26 ADD-25 %s is accessible and logs no errors in both colours, on a desktop and on a phone',
    async (name, ready) => {
      const { page } = await open(name)
      await ready(page).first().waitFor()
      if (['sales', 'lockers'].includes(name)) await page.locator('canvas').first().waitFor()
      await expectAccessible(page, `admin-${name}`)
      expectNoErrors(page, 401)
    },
  )

  it('ADD-25 the growth chart of a new gateway is drawn around its only sample', async () => {
    const { page } = await visit(site, '/admin#lockers', undefined, async (page) => {
      await page.addInitScript(watchCanvases)
      await page.route('**/operations/growth?*', async (route) => {
        const growth = (await (await route.fetch()).json()) as AdminGrowth
        await route.fulfill({ json: { ...growth, samples: growth.samples.slice(-1) } })
      })
    })
    await signIn(page, SECRET)
    await page.locator('canvas').first().waitFor()
    const drawn = () => page.evaluate(() => (window as unknown as { drawn: string[] }).drawn)
    await expect.poll(drawn).toContainEqual(expect.stringMatching(/^\d\d:\d\d$|^[A-Z][a-z]+ \d+$/))
    expect((await drawn()).filter((text) => /^[A-Z][a-z]+ \d{4}$/.test(text))).toEqual([])
    await expectAccessible(page, 'admin-first-sample')
  })

  it('ADD-25 sales show real purchases by asset and provider, with the keyboard, as a table and as CSV', async () => {
    const { page } = await open('sales?range=24h')
    const chart = page.getByRole('slider', { name: /US dollars by asset, per hour/ })
    await chart.waitFor()
    await chart.focus()
    await page.keyboard.press('End')
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/USDC \$0\.\d\d/)
    await page.keyboard.press('Home')
    expect(await chart.getAttribute('aria-valuenow')).toBe('0')
    await page.getByText('Show as a table').click()
    const table = page.getByRole('region', { name: /US dollars by asset/ })
    expect(await table.getByRole('row').count()).toBeGreaterThan(20)
    const legend = page.getByRole('button', { name: /^USDC/ })
    await legend.click()
    expect(await legend.getAttribute('aria-pressed')).toBe('false')

    await page.getByRole('button', { name: '30 d' }).click()
    await page.getByLabel('By', { exact: true }).selectOption('provider')
    await page.getByLabel('Show', { exact: true }).selectOption('purchases')
    await page.getByRole('slider', { name: /Purchases and renewals by provider, per day/ }).waitFor()
    expect(page.url()).toContain('#sales?range=30d&by=provider&show=purchases')
    for (const [name, filename] of [
      ['Save CSV', 'sales-provider-30d.csv'],
      ['Save JSON lines', 'receipts-30d.jsonl'],
    ] as const) {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name }).first().click()
      expect((await download).suggestedFilename()).toBe(filename)
    }
    await click(page, 'Custom')
    for (const [from, to, answer] of [
      ['2026-02-01', '2026-01-01', 'The first day must not be after the last'],
      ['2020-01-01', '2020-01-31', 'Nothing was sold in this period'],
    ] as const) {
      await page.getByLabel('From', { exact: true }).fill(from)
      await page.getByLabel('to', { exact: true }).fill(to)
      await click(page, 'Show')
      await page.getByText(answer).waitFor()
    }
    expectNoErrors(page, 401)
  })
})

/** Fills in the reason and confirms; returns the dialog with the outcome. */
async function act(page: Page, name: string | RegExp, confirm: string): Promise<Locator> {
  await page.getByRole('button', { name }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'What will happen' }).waitFor()
  await dialog.getByRole('button', { name: confirm, exact: true }).click()
  await dialog.getByText('Give a reason').waitFor()
  await dialog.getByLabel('Reason').fill(REASON)
  await dialog.getByRole('button', { name: confirm, exact: true }).click()
  return dialog
}

async function done(dialog: Locator, action: string): Promise<void> {
  await dialog.getByRole('heading', { name: 'In the audit trail' }).waitFor()
  await dialog.getByText(action).waitFor()
  await dialog.getByText(REASON).waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
}

describe('actions', () => {
  it('T-26 ADD-25 freeze, take down and release a locker, each with a reason that the audit trail shows', async () => {
    const { locker_id, receipt_id } = site.locker
    const { page } = await open('lockers')
    await page.getByLabel('Locker id, receipt id').fill(receipt_id)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: locker_id }).click()
    await page.getByRole('heading', { name: locker_id }).waitFor()
    await page.getByRole('button', { name: 'Freeze…' }).click()
    await page.getByLabel('Message to its owner').fill('Under review.')
    await expectAccessible(page, 'admin-action')
    await page.keyboard.press('Escape')
    await done(await act(page, 'Freeze…', 'Freeze'), 'froze a locker')
    await page.getByText('This locker has been frozen since').waitFor()
    await done(await act(page, 'Take down…', 'Take down'), 'took down a locker')
    await page.getByText('This locker has been taken down since').waitFor()
    const download = await fetch(`${site.url}/v1/storage/retrieve/${receipt_id}/hello.txt`)
    expect(download.ok).toBe(false)
    await expectAccessible(page, 'admin-locker')

    const { page: owner } = await visit(site, `/locker/${locker_id}`)
    await useKey(owner, JSON.stringify(site.keypair))
    await owner.getByText('has taken this locker down').waitFor()
    await owner.getByText('While the locker is taken down, no one can open files through it.').waitFor()
    for (const name of ['Upload files', 'Upload a folder'])
      expect(await owner.getByLabel(name, { exact: true }).isDisabled()).toBe(true)
    await expectAccessible(owner, 'locker-taken-down')

    await done(await act(page, 'Lift the restriction…', 'Lift'), 'lifted a restriction')
    await page.getByRole('button', { name: 'Freeze…' }).waitFor()
    await go(page, 'audit')
    await page.getByRole('link', { name: locker_id }).first().waitFor()
    expect(await page.getByRole('row', { name: /secret/ }).count()).toBeGreaterThanOrEqual(3)
    await expectAccessible(page, 'admin-audit-entries')
    expectNoErrors(page, 401)
  })

  it('T-26 ADD-25 show, retry and delete a dead job', async () => {
    const id = await deadJob()
    const { page } = await open('overview')
    await page.getByRole('link', { name: /failed permanently/ }).click()
    await page.getByRole('link', { name: id }).click()
    await page.getByText(`"rcpt_${'0'.repeat(32)}"`).waitFor()
    await expectAccessible(page, 'admin-job')
    await done(await act(page, 'Retry…', 'Retry'), 'retried a job')
    await page.getByText('This job is gone').waitFor()
    await go(page, 'jobs?state=waiting')
    await page.getByRole('cell', { name: 'attest' }).first().waitFor()
    await site.gateway.context.queue.drain()
    await go(page, 'jobs')
    await done(await act(page, 'Delete…', 'Delete'), 'deleted a job')
    expectNoErrors(page, 401, 404)
  })

  it('T-26 ADD-25 attach an unused payment to a quote', async () => {
    const wanted = await quote(1)
    const tx = await payLeg(site.chains, wanted.leg, { amount: BigInt(wanted.leg.amount) / 2n })
    const { page } = await open('payments')
    const lookUp = async (text: string) => {
      await page.getByLabel('Transaction').fill(text)
      await click(page, 'Look up')
    }
    await lookUp('nonsense')
    await page.getByText('This is not a transaction: enter 64 to 88').waitFor()
    await lookUp(tx)
    await page.getByText('No receipt uses this payment.').waitFor()
    await expectAccessible(page, 'admin-payment')
    await click(page, 'Attach to a quote…')
    const dialog = page.getByRole('dialog')
    const attach = dialog.getByRole('button', { name: 'Attach', exact: true })
    await dialog.getByLabel('Quote id').fill(wanted.id)
    await dialog.getByLabel('Reason').fill(REASON)
    await attach.click()
    await dialog.getByText('This was not done').waitFor()
    await dialog.getByLabel('Accept it even if it is less').check()
    await attach.click()
    await dialog.getByText('was issued').waitFor()
    await done(dialog, 'attached a payment')
    await page.getByRole('cell', { name: wanted.id }).waitFor()
    expectNoErrors(page, 401, 402)
  })

  it('T-26 ADD-25 record the refund of an unused payment, and then its transaction', async () => {
    const tx = await payLeg(site.chains, (await quote(1)).leg)
    const { page } = await open(`payments?network=primary-mainnet&tx=${tx}`)
    await page.getByText('No receipt uses this payment.').waitFor()
    await done(await act(page, 'Record a refund…', 'Record'), 'recorded a refund')
    await page.getByText('decided, not yet sent').waitFor()
    await click(page, 'Add the transaction of the refund…')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Transaction that paid it back').fill(tx)
    await dialog.getByLabel('Reason').fill(REASON)
    await dialog.getByRole('button', { name: 'Record', exact: true }).click()
    await done(dialog, 'recorded a refund')
    await page.getByText('sent', { exact: true }).waitFor()
    expectNoErrors(page, 401, 402)
  })
})

describe('payments to return', () => {
  it('T-205 T-26 show a second payment of a quote at the top, and record its refund', async () => {
    const { id, leg } = await quote(1)
    const confirm = (tx: string) =>
      fetch(`${site.url}/v1/storage/confirm`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x402-tx': tx },
        body: JSON.stringify({ pay_req_id: id, pay_network: 'primary-mainnet', pay_asset: 'USDC' }),
      })
    const [first, second] = [await payLeg(site.chains, leg), await payLeg(site.chains, leg, { payer: 1 })]
    expect((await confirm(first)).status).toBe(200)
    expect((await confirm(second)).status).toBe(402)
    const { page } = await open('overview')
    await page.getByText('1 payment to return.').click()
    const row = page.getByRole('row', { name: second })
    await row.getByText('the quote was already paid').waitFor()
    await done(await act(page, 'Record a refund…', 'Record'), 'recorded a refund')
    await row.getByText('refund decided, not yet sent').waitFor()
    await expectAccessible(page, 'admin-payments-to-return')
    await row.getByRole('link').click()
    await page.getByText('What reached the treasury', { exact: true }).waitFor()
    expectNoErrors(page, 401, 402)
  })
})

describe('live values', () => {
  it('T-26 are read by one loop that pauses while hidden, slows down on errors, and keeps the last values', async () => {
    const { page } = await visit(site, '/admin#providers', {}, (page) => page.clock.install())
    await signIn(page, SECRET)
    await page.getByRole('cell', { name: 'Monad' }).waitFor()
    let asked = 0
    let isBroken = false
    await page.route('**/operations/overview', (route) => {
      asked += 1
      return isBroken ? route.abort() : route.continue()
    })
    const setHidden = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value })
        document.dispatchEvent(new Event('visibilitychange'))
      }, hidden)
    await page.clock.fastForward(16_000)
    await expect.poll(() => asked).toBe(1)
    await setHidden(true)
    await page.clock.fastForward(600_000)
    expect(asked).toBe(1)
    await setHidden(false)
    await expect.poll(() => asked).toBe(2)

    isBroken = true
    await page.clock.fastForward(16_000)
    await page.getByText('Not current').waitFor()
    await page.getByRole('cell', { name: 'Monad' }).waitFor()
    expect(asked).toBe(3)
    await page.clock.fastForward(16_000)
    expect(asked).toBe(3)
    isBroken = false
    await page.clock.fastForward(16_000)
    await page.getByText('Not current').waitFor({ state: 'detached' })
    expect(asked).toBe(4)
  })
})
