import type { OperatorGrowth } from '@svc/api/operations'
import type { Confirmation, Quote } from '@svc/api/purchases'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { payLeg } from '@svc/devnet/pay-leg'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSite, type Site } from './site.ts'
import { expectCalm, expectGoodLooks, picture, visit } from './visit.ts'

const SECRET = 'the-secret-of-the-operators-tools'
const DAY = 86_400
/** When the day began. Read before the gateway starts, so that what is seeded is older than all that it counts itself. */
const TODAY = Math.floor(Date.now() / 1000 / DAY) * DAY
const DESKTOP = { width: 1280, height: 900 }
/** Compressed, as for every page. */
const FIRST_LOAD_BYTES = 100_000

let site: Site
let issuer: OidcIssuer
beforeAll(async () => {
  issuer = await startOidcIssuer()
  site = await openSite({
    variables: {
      INTERNAL_SECRET: SECRET,
      INTERNAL_OIDC_ISSUER: issuer.issuer,
      INTERNAL_OIDC_AUDIENCE: TEST_AUDIENCE,
      INTERNAL_OIDC_JWKS_URL: issuer.jwksUrl,
      INTERNAL_OIDC_SUBJECTS: 'watcher',
      OPERATOR_ACTORS: 'secret',
    },
  })
  await buy(2)
  await seedPast()
})
afterAll(async () => {
  await site.close()
  await issuer.stop()
})

async function quote(units: number): Promise<{ id: string; leg: Quote['accepts'][number] }> {
  const body = JSON.stringify({ units, pay_network: 'primary-mainnet', pay_asset: 'USDC' })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${site.url}/v1/storage/request`, { method: 'POST', headers, body })
  const { accepts, extensions } = (await answer.json()) as Quote
  return { id: extensions.svc.info.pay_req_id, leg: accepts[0]! }
}

async function buy(units: number): Promise<Confirmation> {
  const { id, leg } = await quote(units)
  const tx = await payLeg(site.chains, leg)
  const answer = await fetch(`${site.url}/v1/storage/confirm`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x402-tx': tx },
    body: JSON.stringify({ pay_req_id: id }),
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Confirmation
}

/** What a gateway has counted that is older than this test. */
async function seedPast(): Promise<void> {
  const { db } = site.gateway.context.database
  const days = Array.from({ length: 28 }, (_, i) => TODAY - (i + 1) * DAY)
  const kinds = [
    ['primary-mainnet', 'USDC', 'gcs'],
    ['primary-mainnet', 'SOL', 'storj'],
    ['evm-mainnet', 'MON', 'gcs'],
  ] as const
  const sales = days.flatMap((start, i) =>
    kinds
      .filter((_, k) => (i + k) % 3 !== 0)
      .map(([network, asset, provider], k) => ({
        period: 'day' as const,
        start,
        network,
        asset,
        provider,
        purchases: 2 + k,
        renewals: i % 2,
        units: 3 + k,
        paid: '1500000',
        usd_micros: 250_000 * (1 + ((i * 7 + k * 5) % 11)),
      })),
  )
  await db.insertInto('sales_periods').values(sales).execute()
  const samples = days.map((sampled_at, i) => {
    const age = days.length - i
    return { sampled_at, lockers: 3 * age, files: 40 * age, bytes: age * 3e9, purchases: 4 * age }
  })
  await db.insertInto('growth_samples').values(samples).execute()
}

async function deadJob(): Promise<string> {
  const { queue, database } = site.gateway.context
  const receipt_id = `rcpt_${'0'.repeat(32)}`
  await database.db.transaction().execute((tx) => queue.enqueue(tx, 'attest', { receipt_id }))
  await queue.drain()
  return (await queue.deadLetters())[0]!.id
}

/** Leaves the texts that are drawn on canvases in `window.drawn`. */
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
  await page.getByRole('button', { name: 'Open', exact: true }).click()
}

async function open(hash: string, token = SECRET) {
  const visited = await visit(site, `/operator#${hash}`)
  await signIn(visited.page, token)
  return visited
}

const go = (page: Page, hash: string) =>
  page.evaluate((to) => {
    location.hash = to
  }, hash)

/** The browser reports answers of 400 and above: in development, the page first asks whether it needs a token. */
function expectCalmBut(visited: Awaited<ReturnType<typeof visit>>, ...statuses: number[]): void {
  const expected = [401, ...statuses].map((status) => `status of ${status}`)
  const problems = visited.problems.filter((problem) => !expected.some((text) => problem.includes(text)))
  expectCalm({ ...visited, problems })
}

describe('the sign-in', () => {
  it('T-72 shows nothing without an identity, and keeps the token in memory unless the tab may keep it', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, '/operator#sales')
    const { page } = visited
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('/v1/internal') && asked.push(request.url()))
    await page.getByRole('heading', { name: 'Operator' }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Sections' }).count()).toBe(0)
    await expectGoodLooks(visited, 'operator-sign-in')
    await page.setViewportSize(DESKTOP)
    await signIn(page, 'a token ünsendable')
    await page.getByText('This is not a token').waitFor()
    await signIn(page, 'not-the-secret')
    await page.getByRole('alert').getByText('does not accept this token').waitFor()
    expect(await page.getByRole('navigation', { name: 'Sections' }).count()).toBe(0)
    await picture(page, 'operator-refused')
    expect(new Set(asked)).toEqual(new Set([`${site.url}/v1/internal/operations/identity`]))

    await signIn(page, SECRET)
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor()
    await page.getByRole('slider').waitFor()
    expect(await visited.bytes()).toBeLessThan(FIRST_LOAD_BYTES)
    const stored = () =>
      page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))
    expect(await stored()).toBe('[{},{},""]')
    expect(asked.every((url) => !url.includes(SECRET))).toBe(true)
    await page.reload()
    await page.getByLabel('Token', { exact: true }).waitFor()
    await page.getByLabel('Keep for this tab').check()
    await page.getByLabel('From a file').setInputFiles({
      name: 'token.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(`${SECRET}\n`),
    })
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token', { exact: true }).waitFor()
    expect(await stored()).toBe('[{},{},""]')
    expect(await page.getByRole('main').textContent()).not.toContain('$')
    expectCalmBut(visited)
    await visited.leave()
  })

  it('T-72 a token that expires ends the session, and an identity that may not act has no buttons to act', {
    tags: ['nightly'],
  }, async () => {
    const id = await deadJob()
    const token = issuer.token({ sub: 'watcher' })
    const visited = await open(`jobs?job=${id}`, token)
    const { page } = visited
    await page.getByText('Read only').waitFor()
    await page.getByText('receipt_not_found').first().waitFor()
    await page.getByText('oidc:watcher').waitFor()
    const buttons = () => page.getByRole('main').getByRole('button').allTextContents()
    expect((await buttons()).filter((text) => text.endsWith('…'))).toEqual([])
    await go(page, 'jobs')
    await page.getByRole('cell', { name: id }).waitFor()
    expect((await buttons()).filter((text) => text.endsWith('…'))).toEqual([])
    await go(page, `lockers?locker=${site.locker.locker_id}`)
    await page.getByRole('heading', { name: site.locker.locker_id }).waitFor()
    expect((await buttons()).filter((text) => text.endsWith('…'))).toEqual([])
    await picture(page, 'operator-read-only')
    expectCalmBut(visited)

    await page.route('**/v1/internal/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } }),
    )
    await go(page, 'audit')
    await page.getByRole('alert').getByText('does not accept this token').waitFor()
    expect(await page.getByRole('main').textContent()).not.toContain(site.locker.locker_id)
    await visited.leave()
  })
})

const SECTIONS: [name: string, hash: string, ready: (page: Page) => Locator][] = [
  ['overview', 'overview', (page) => page.getByText('Sold in total')],
  ['sales', 'sales', (page) => page.getByRole('cell', { name: 'MON' })],
  ['treasury', 'treasury', (page) => page.getByRole('cell', { name: 'USDC' })],
  ['lockers', 'lockers', (page) => page.getByText('No locker is over its terms.')],
  ['attestations', 'attestations', (page) => page.getByRole('heading', { name: 'Daily budgets' })],
  ['jobs', 'jobs', (page) => page.getByRole('heading', { name: 'By kind' })],
  ['providers', 'providers', (page) => page.getByRole('cell', { name: 'evm-mainnet' })],
  ['keys', 'keys', (page) => page.getByRole('cell', { name: 'Receipts and statements' })],
  ['prices', 'prices', (page) => page.getByRole('heading', { name: 'Prices that quotes use' })],
  ['routes', 'routes', (page) => page.getByText('/v1/storage/request')],
  ['payments', 'payments', (page) => page.getByRole('button', { name: 'Look up' })],
  ['audit', 'audit', (page) => page.getByText('The log is intact')],
]

describe('every section', () => {
  it.each(SECTIONS)(
    'T-72 ADD-25 %s is accessible and calm in both colours, on a desktop and on a phone',
    { tags: ['nightly'] },
    async (name, hash, ready) => {
      const visited = await open(hash)
      await ready(visited.page).first().waitFor()
      if (['sales', 'lockers'].includes(name)) await visited.page.locator('canvas').first().waitFor()
      await expectGoodLooks(visited, `operator-${name}`)
      if (name === 'overview') {
        await visited.page.getByRole('button', { name: 'Sections' }).click()
        await picture(visited.page, 'operator-menu')
      }
      expectCalmBut(visited)
      await visited.leave()
    },
  )

  it('ADD-25 the growth chart of a new gateway is drawn around its only sample, not years after it', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, '/operator#lockers', undefined, async (page) => {
      await page.addInitScript(watchCanvases)
      await page.route('**/operations/growth?*', async (route) => {
        const growth = (await (await route.fetch()).json()) as OperatorGrowth
        await route.fulfill({ json: { ...growth, samples: growth.samples.slice(-1) } })
      })
    })
    const { page } = visited
    await signIn(page, SECRET)
    await page.locator('canvas').first().waitFor()
    const drawn = () => page.evaluate(() => (window as unknown as { drawn: string[] }).drawn)
    await expect.poll(drawn).toContainEqual(expect.stringMatching(/^\d\d:\d\d$|^[A-Z][a-z]+ \d+$/))
    expect((await drawn()).filter((text) => /^[A-Z][a-z]+ \d{4}$/.test(text))).toEqual([])
    await expectGoodLooks(visited, 'operator-first-sample')
    await visited.leave()
  })

  it('ADD-25 sales come from real purchases, by asset and provider, with the keyboard, as a table and as CSV', {
    tags: ['nightly'],
  }, async () => {
    const visited = await open('sales?range=24h')
    const { page } = visited
    const chart = page.getByRole('slider', { name: /US dollars by asset, per hour/ })
    await chart.waitFor()
    await chart.focus()
    await page.keyboard.press('End')
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/USDC \$0\.\d\d/)
    await page.keyboard.press('Home')
    expect(await chart.getAttribute('aria-valuenow')).toBe('0')
    await page.getByText('Show as a table').click()
    expect(
      await page
        .getByRole('region', { name: /US dollars by asset/ })
        .getByRole('row')
        .count(),
    ).toBeGreaterThan(20)
    const legend = page.getByRole('button', { name: /^USDC/ })
    await legend.click()
    expect(await legend.getAttribute('aria-pressed')).toBe('false')

    await page.getByRole('button', { name: '30 d' }).click()
    await page.getByLabel('By', { exact: true }).selectOption('provider')
    await page.getByLabel('Show', { exact: true }).selectOption('purchases')
    await page.getByRole('slider', { name: /Purchases and renewals by provider, per day/ }).waitFor()
    expect(page.url()).toContain('#sales?range=30d&by=provider&show=purchases')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save CSV' }).first().click()
    const file = await download
    expect(file.suggestedFilename()).toBe('sales-provider-30d.csv')
    const receipts = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save JSON lines' }).click()
    expect((await receipts).suggestedFilename()).toBe('receipts-30d.jsonl')

    await page.getByRole('button', { name: 'Custom' }).click()
    await page.getByLabel('From', { exact: true }).fill('2026-02-01')
    await page.getByLabel('to', { exact: true }).fill('2026-01-01')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('The first day must not be after the last').waitFor()
    await page.getByLabel('From', { exact: true }).fill('2020-01-01')
    await page.getByLabel('to', { exact: true }).fill('2020-01-31')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('Nothing was sold in this period').waitFor()
    await picture(page, 'operator-sales-empty')
    expectCalmBut(visited)
    await visited.leave()
  })
})

/** Fills in the reason and confirms; answers the dialog with the outcome. */
async function act(page: Page, name: string | RegExp, confirm: string): Promise<Locator> {
  await page.getByRole('button', { name }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'What will happen' }).waitFor()
  await dialog.getByRole('button', { name: confirm, exact: true }).click()
  await dialog.getByText('Say why').waitFor()
  await dialog.getByLabel('Reason').fill('a customer wrote <b>ticket 7</b>')
  await dialog.getByRole('button', { name: confirm, exact: true }).click()
  return dialog
}

async function done(dialog: Locator, action: string): Promise<void> {
  await dialog.getByRole('heading', { name: 'In the audit log' }).waitFor()
  await dialog.getByText(action).waitFor()
  await dialog.getByText('a customer wrote <b>ticket 7</b>').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
}

describe('acting', () => {
  it('T-72 ADD-25 freezes, takes down and releases a locker, each with a reason that the audit log shows', {
    tags: ['nightly'],
  }, async () => {
    const { locker_id, receipt_id } = site.locker
    const visited = await open('lockers')
    const { page } = visited
    await page.getByLabel('Locker id, receipt id').fill(receipt_id)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: locker_id }).click()
    await page.getByRole('heading', { name: locker_id }).waitFor()
    await page.getByRole('button', { name: 'Freeze…' }).click()
    await page.getByLabel('What its owner is told').fill('Under review.')
    await expectGoodLooks(visited, 'operator-action')
    await page.keyboard.press('Escape')
    await done(await act(page, 'Freeze…', 'Freeze'), 'froze a locker')
    await page.getByText('This locker has been frozen since').waitFor()
    await done(await act(page, 'Take down…', 'Take down'), 'took down a locker')
    await page.getByText('This locker has been taken down since').waitFor()
    const download = await fetch(`${site.url}/v1/storage/retrieve/${receipt_id}/hello.txt`)
    expect(download.ok).toBe(false)
    await expectGoodLooks(visited, 'operator-locker')

    const owner = await visit(site, `/locker/${locker_id}`)
    await owner.page.getByRole('button', { name: 'Use a key' }).click()
    await owner.page.getByLabel('Paste a key').fill(JSON.stringify(site.keypair))
    await owner.page.getByRole('button', { name: 'Use this key' }).click()
    await owner.page.getByText('has taken this locker down').waitFor()
    for (const name of ['Upload files', 'Upload a folder'])
      expect(await owner.page.getByLabel(name, { exact: true }).isDisabled()).toBe(true)
    await expectGoodLooks(owner, 'locker-taken-down')
    await owner.leave()

    await done(await act(page, 'Lift the restriction…', 'Lift'), 'lifted a restriction')
    await page.getByRole('button', { name: 'Freeze…' }).waitFor()
    await go(page, 'audit')
    await page.getByRole('link', { name: locker_id }).first().waitFor()
    expect(await page.getByRole('row', { name: /secret/ }).count()).toBeGreaterThanOrEqual(3)
    await expectGoodLooks(visited, 'operator-audit-entries')
    expectCalmBut(visited)
    await visited.leave()
  })

  it('T-72 ADD-25 a dead job is read, retried and deleted', { tags: ['nightly'] }, async () => {
    const id = await deadJob()
    const visited = await open('overview')
    const { page } = visited
    await page.getByRole('link', { name: /failed for good/ }).click()
    await page.getByRole('link', { name: id }).click()
    await page.getByText(`"rcpt_${'0'.repeat(32)}"`).waitFor()
    await expectGoodLooks(visited, 'operator-job')
    await done(await act(page, 'Retry…', 'Retry'), 'retried a job')
    await page.getByText('This job is gone').waitFor()
    await go(page, 'jobs?state=waiting')
    await page
      .getByRole('row', { name: /attest/ })
      .first()
      .waitFor()
    await site.gateway.context.queue.drain()
    await go(page, 'jobs')
    await done(await act(page, 'Delete…', 'Delete'), 'deleted a job')
    expectCalmBut(visited, 404)
    await visited.leave()
  })

  it('T-72 ADD-25 a payment that no receipt uses is attached to a quote, or its refund is recorded', {
    tags: ['nightly'],
  }, async () => {
    const wanted = await quote(1)
    const amount = BigInt(wanted.leg.amount) / 2n
    const tx = await payLeg(site.chains, wanted.leg, { amount })
    const visited = await open('payments')
    const { page } = visited
    await page.getByLabel('Transaction').fill('nonsense')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('A transaction is 64 to 88').waitFor()
    await page.getByLabel('Transaction').fill(tx)
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('No receipt uses this payment.').waitFor()
    await expectGoodLooks(visited, 'operator-payment')
    await page.getByRole('button', { name: 'Attach to a quote…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Quote id').fill(wanted.id)
    await dialog.getByLabel('Reason').fill('a customer wrote <b>ticket 7</b>')
    await dialog.getByRole('button', { name: 'Attach', exact: true }).click()
    await dialog.getByText('This was not done').waitFor()
    await picture(page, 'operator-not-done')
    await dialog.getByLabel('Accept it even if less arrived').check()
    await dialog.getByRole('button', { name: 'Attach', exact: true }).click()
    await dialog.getByText('was issued').waitFor()
    await done(dialog, 'attached a payment')
    await page.getByRole('cell', { name: wanted.id }).waitFor()

    const other = await quote(1)
    const unused = await payLeg(site.chains, other.leg)
    await go(page, `payments?network=primary-mainnet&tx=${unused}`)
    await page.getByText('No receipt uses this payment.').waitFor()
    await done(await act(page, 'Record a refund…', 'Record'), 'recorded a refund')
    await page.getByText('decided, not yet sent').waitFor()
    await page.getByRole('button', { name: 'Add the transaction of the refund…' }).click()
    await dialog.getByLabel('Transaction that paid it back').fill(tx)
    await dialog.getByLabel('Reason').fill('a customer wrote <b>ticket 7</b>')
    await dialog.getByRole('button', { name: 'Record', exact: true }).click()
    await done(dialog, 'recorded a refund')
    await page.getByText('sent', { exact: true }).waitFor()
    expectCalmBut(visited, 402)
    await visited.leave()
  })
})

describe('live values', () => {
  it('T-72 are read by one loop that rests while hidden, slows down on errors, and keeps what was there', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, '/operator#providers', {}, (page) => page.clock.install())
    const { page } = visited
    await signIn(page, SECRET)
    await page.getByRole('cell', { name: 'evm-mainnet' }).waitFor()
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
    await page.getByRole('cell', { name: 'evm-mainnet' }).waitFor()
    await picture(page, 'operator-stale')
    expect(asked).toBe(3)
    await page.clock.fastForward(16_000)
    expect(asked).toBe(3)
    isBroken = false
    await page.clock.fastForward(16_000)
    await page.getByText('Not current').waitFor({ state: 'detached' })
    expect(asked).toBe(4)
    await visited.leave()
  })
})
