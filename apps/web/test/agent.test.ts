// @module-tag nightly

import { DEV_AGENT_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { freePort } from '@svc/devnet/free-port'
import { AGENT_TREASURY, DEMO_PAYERS, type DevKey } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestAgent } from '@svc/devnet/services/agent'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { writable } from '@svc/devnet/writable'
import { toBase58 } from '@svc/protocol/bytes'
import { createClient, type Locker } from '@svc/sdk'
import { signerFromSeed } from '@svc/sdk/signers'
import { holdings } from '@svc/sdk/test/market'
import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { injectStandardWallet } from './injected-wallets.ts'
import { useSite } from './site.ts'
import { expectAccessible, useKey, visit } from './visit.ts'

const OWNER = DEMO_PAYERS[1] as DevKey
const OTHER = DEMO_PAYERS[2] as DevKey
const PRICE_USDC = 5_000_000n
/** Compressed; wallets, chains and signing come later. */
const FIRST_LOAD_BYTES = 100_000
/** Markup, and characters that reverse the text after them. */
const HOSTILE_NAME = 'tax\u202Egnp.txt\u202C<img src=x>'

let agent: Awaited<ReturnType<typeof startTestAgent>>
let port: number
let agentUrl: string
const site = useSite({
  landing: 'at once',
  withAllAssets: true,
  async variables() {
    port = await freePort()
    agentUrl = `http://localhost:${port}`
    return { AGENT_URL: agentUrl }
  },
})
beforeAll(async () => {
  agent = await startTestAgent({
    PORT: String(port),
    BASE_URL: agentUrl,
    GATEWAY_URL: site.url,
    PRIMARY_RPC_URLS: site.chains.primary.url,
    PRIMARY_TREASURY: AGENT_TREASURY.address,
    EVM_RPC_URLS: site.chains.evm.url,
    EVM_TREASURY: DEV_AGENT_TREASURY.address,
  })
})
afterAll(() => agent.stop())

const owner = () =>
  createClient({ baseUrl: site.url, signer: signerFromSeed(OWNER.privateKeyBytes), onWarning: () => {} })

/** Sets a subscription of thirty days. */
async function subscribe({ address: identity }: DevKey): Promise<void> {
  const starts_at = Math.floor(Date.now() / 1000)
  const row = { identity, subscription_id: crypto.randomUUID(), starts_at, expires_at: starts_at + 30 * 86_400 }
  const { db } = agent.context.database
  await writable(db)
    .insertInto('subscriptions')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function newLocker(tags: string[] = []): Promise<Locker> {
  const { receipt_id } = await seedReceipt(site.gateway.context, { owner: OWNER.address })
  const { locker_id } = await owner().provision(receipt_id, { tags })
  await owner().put({ locker_id, receipt_id }, 'report.txt', new TextEncoder().encode('report'))
  return { locker_id, receipt_id }
}

async function operatorsOf(locker: Locker): Promise<string[]> {
  return (await owner().metadata(locker)).operators
}

/** The amount that the service was paid: only this shows how often. */
const treasury = () => holdings(site.chains, { primary: AGENT_TREASURY, evm: DEV_AGENT_TREASURY }, 'USDC')

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const entryOf = (page: Page, { locker_id }: Locker) => page.getByRole('listitem').filter({ hasText: locker_id })
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

async function connectKey(page: Page, key: DevKey): Promise<void> {
  await useKey(page, toBase58(key.privateKeyBytes))
  await card(page, 'Subscription').waitFor()
}

async function payUsdc(page: Page): Promise<void> {
  await page.getByRole('radio', { name: /USDC/ }).check()
  await page
    .getByText(/network fee/)
    .first()
    .waitFor()
  await button(page, /^Pay [\d.]+ USDC/).click()
}

it('T-68 the page sells a subscription for the price that it shows', async () => {
  const { page, bytes } = await visit(site, '/', undefined, (page) =>
    injectStandardWallet(page, { key: DEMO_PAYERS[3] as DevKey, rpcUrl: site.chains.primary.url }),
  )
  await page.getByRole('link', { name: 'See what it does' }).click()
  await page.getByText('$5.00 for 30 days').waitFor()
  expect(await bytes()).toBeLessThan(FIRST_LOAD_BYTES)
  await expectAccessible(page, 'agent-start')
  await button(page, /Test wallet/).click()
  await page.getByText('You have no subscription.').waitFor()
  const before = await treasury()
  await button(page, 'Subscribe').click()
  await page.getByText('+ up to 0.000005 SOL network fee').first().waitFor()
  await expectAccessible(page, 'agent-subscribe')
  await payUsdc(page)
  await page.getByText(/Your subscription runs until/).waitFor()
  expect((await treasury()) - before).toBe(PRICE_USDC)
})

it('T-68 the page delegates a locker with two signatures, shows the findings, and revokes the rights', async () => {
  await subscribe(OWNER)
  const locker = await newLocker(['name:Papers'])
  const untouched = await newLocker()
  await owner().put(locker, HOSTILE_NAME, new TextEncoder().encode('hostile'))
  const {
    page,
    prepared: wallet,
    problems,
    origins,
  } = await visit(site, '/agent', undefined, (page) =>
    injectStandardWallet(page, { key: OWNER, rpcUrl: site.chains.primary.url }),
  )
  await button(page, /Test wallet/).click()
  await button(page, 'Show my lockers').click()
  await page.getByLabel('Locker', { exact: true }).selectOption(locker.receipt_id)
  await page.getByRole('checkbox', { name: 'Mirror addresses into the locker' }).check()
  await button(page, 'Delegate').click()
  await page.getByText('The address must begin with https://').waitFor()
  await page.getByLabel('Address, https').fill('https://files.example/list.csv')
  expect(await page.getByLabel('File in the locker').inputValue()).toBe('list.csv')
  await page.getByText('The address must begin with https://').waitFor({ state: 'hidden' })
  await expectAccessible(page, 'agent-delegate')
  const signatures = wallet.seen.length
  await button(page, 'Delegate').click()
  await page.getByText('Delegated. Its key is registered').waitFor()
  const [key] = await operatorsOf(locker)
  expect([(await operatorsOf(locker)).length, await operatorsOf(untouched)]).toEqual([1, []])
  // The first is for the service, the second for the gateway; the third reads the list again.
  const entry = entryOf(page, locker)
  await entry.getByRole('button', { name: /^Show findings/ }).waitFor()
  expect(wallet.seen.length - signatures).toBe(3)

  await agent.context.queue.drain()
  await button(page, 'Refresh').click()
  await entry.getByText('Active').waitFor()
  await entry.getByRole('button', { name: /^Show findings/ }).click()
  for (const text of [/checked in this browser/, /^First check of the locker/, /^Cannot be fetched$/])
    await page.getByText(text).waitFor()
  await expectAccessible(page, 'agent-findings')
  expect(await page.locator('img[src="x"]').count()).toBe(0)
  await entry.getByRole('button', { name: /^End / }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await entry.getByText('Ended', { exact: true }).waitFor()
  expect(await operatorsOf(locker)).not.toContain(key)
  await expectAccessible(page, 'agent-ended')
  expect([problems, [...origins].toSorted()]).toEqual([[], [site.url, agentUrl].toSorted()])
})

it('T-68 T-67 a payment that a reload interrupts is settled, and never made twice', async () => {
  const { page } = await visit(site, '/agent')
  await connectKey(page, OTHER)
  const before = await treasury()
  // The service is paid, but its answer never arrives.
  await page.route(`${agentUrl}/v1/service/confirm`, () => {})
  await button(page, 'Subscribe').click()
  const asked = page.waitForRequest(`${agentUrl}/v1/service/confirm`)
  await payUsdc(page)
  await asked
  await page.reload()
  await page.unroute(`${agentUrl}/v1/service/confirm`)
  await connectKey(page, OTHER)
  await page.getByText('You have no subscription.').waitFor()
  await page.getByText('A payment was started').waitFor()
  await expectAccessible(page, 'agent-started')
  expect(await button(page, 'Subscribe').count()).toBe(0)
  await button(page, 'Check its status').click()
  await page.getByText(/Your subscription runs until/).waitFor()
  expect((await treasury()) - before).toBe(PRICE_USDC)

  // The subscription expires.
  await writable(agent.context.database.db)
    .updateTable('subscriptions')
    .set({ expires_at: 1_700_000_000 })
    .where('identity', '=', OTHER.address)
    .execute()
  await button(page, 'Refresh').click()
  await page.getByText(/It ended on/).waitFor()
  expect(await card(page, 'Delegate a locker').count()).toBe(0)
  await expectAccessible(page, 'agent-expired')
})

it('T-68 the page reports a service that is missing, is down, or works for another gateway', async () => {
  const discovery = `${agentUrl}/.well-known/svc-agent.json`
  const { page } = await visit(site, '/agent', undefined, async (page) => {
    await page.route(discovery, (route) => route.abort())
  })
  await page.getByText('The agent service does not answer').waitFor()
  await expectAccessible(page, 'agent-down')
  await page.unroute(discovery)
  await button(page, 'Try again').click()
  await page.getByText('$5.00 for 30 days').waitFor()

  await page.route(discovery, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), gateway_url: 'https://other.example' } })
  })
  await page.reload()
  await page.getByText('This agent service works for another gateway').waitFor()
  expect(await button(page, 'Use a key').count()).toBe(0)

  await page.route(`${site.url}/.well-known/svc.json`, async (route) => {
    const response = await route.fetch()
    const { agent_url, ...rest } = await response.json()
    await route.fulfill({ response, json: rest })
  })
  await page.reload()
  await page.getByText('This gateway has no agent service').waitFor()
})
