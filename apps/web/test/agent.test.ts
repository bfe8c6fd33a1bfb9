import { DEV_AGENT_TREASURY, DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { freePort } from '@svc/devnet/free-port'
import { AGENT_TREASURY, DEMO_PAYERS, type DevKey, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { createClient, type Locker } from '@svc/sdk'
import { signerFromSeed } from '@svc/sdk/signers'
import { holdings } from '@svc/sdk/test/market'
import { startTestAgent } from '@svc/testbed/agent'
import { seedReceipt } from '@svc/testbed/seed-lockers'
import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mirrorViews } from '../src/pages/agent/mirrors.ts'
import { type InjectedWallet, injectEvmWallet, injectStandardWallet } from './injected-wallets.ts'
import { openSite, type Site } from './site.ts'
import { expectGoodLooks, visit } from './visit.ts'

const OWNER = DEMO_PAYERS[1] as DevKey
const OTHER = DEMO_PAYERS[2] as DevKey
const PRICE_USDC = 5_000_000n
/** Compressed; wallets, chains and signing come later. */
const FIRST_LOAD_BYTES = 100_000
/** Characters that turn the text around them, and markup. */
const HOSTILE_NAME = 'tax\u202Egnp.txt\u202C<img src=x>'

let site: Site
let agent: Awaited<ReturnType<typeof startTestAgent>>
let agentUrl: string
beforeAll(async () => {
  const port = await freePort()
  agentUrl = `http://localhost:${port}`
  site = await openSite({ withAllAssets: true, variables: { AGENT_URL: agentUrl } })
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
afterAll(async () => {
  await agent.stop()
  await site.close()
})

const owner = () =>
  createClient({ baseUrl: site.url, signer: signerFromSeed(OWNER.privateKeyBytes), onWarning: () => {} })

async function newLocker(tags: string[] = []): Promise<Locker> {
  const { receipt_id } = await seedReceipt(site.gateway.context, { owner: OWNER.address })
  const { locker_id } = await owner().provision(receipt_id, { tags })
  await owner().put({ locker_id, receipt_id }, 'report.txt', new TextEncoder().encode('report'))
  return { locker_id, receipt_id }
}

async function operatorsOf(locker: Locker): Promise<string[]> {
  return (await owner().metadata(locker)).operators
}

/** What the service was paid: the only thing that tells how often. */
async function treasuryUsdc(): Promise<bigint> {
  const account = await tokenAccountOf(AGENT_TREASURY.address, 'USDC')
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'getTokenAccountBalance',
    params: [account, { commitment: 'confirmed' }],
  })
  const response = await fetch(site.chains.primary.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  return BigInt(((await response.json()) as { result: { value: { amount: string } } }).result.value.amount)
}

const treasuryUsdcOnEvm = () =>
  holdings(site.chains, { primary: AGENT_TREASURY, evm: DEV_AGENT_TREASURY }, 'USDC on EVM')

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

async function useKey(page: Page, key: DevKey): Promise<void> {
  await button(page, 'Use a key').click()
  await page.getByLabel('Paste a key').fill(toBase58(key.privateKeyBytes))
  await button(page, 'Use this key').click()
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

it('T-74 sells, delegates a locker by two signatures, shows what was found, and takes the rights back', {
  tags: ['nightly'],
}, async () => {
  const locker = await newLocker(['name:Papers'])
  const untouched = await newLocker()
  await owner().put(locker, HOSTILE_NAME, new TextEncoder().encode('hostile'))
  let wallet!: InjectedWallet
  const visited = await visit(site, '/', undefined, async (page) => {
    wallet = await injectStandardWallet(page, { key: OWNER, rpcUrl: site.chains.primary.url })
  })
  const { page, problems, origins } = visited
  wallet.answer('approve')
  await page.getByRole('link', { name: 'See what it does' }).click()
  await page.getByText('$5.00 for 30 days').waitFor()
  expect(await visited.bytes()).toBeLessThan(FIRST_LOAD_BYTES)
  await expectGoodLooks(visited, 'agent-start')

  await button(page, /Test wallet/).click()
  await page.getByText('You have no subscription.').waitFor()
  const before = await treasuryUsdc()
  await button(page, 'Subscribe').click()
  await page.getByText('+ up to 0.000005 SOL network fee').first().waitFor()
  await expectGoodLooks(visited, 'agent-subscribe')
  await payUsdc(page)
  await page.getByText(/Your subscription runs until/).waitFor()
  expect((await treasuryUsdc()) - before).toBe(PRICE_USDC)

  await button(page, 'Show my lockers').click()
  await page.getByLabel('Locker', { exact: true }).selectOption(locker.receipt_id)
  await page.getByRole('checkbox', { name: 'Mirror addresses into the locker' }).check()
  await button(page, 'Delegate').click()
  await page.getByText('The address must begin with https://').waitFor()
  await page.getByLabel('Address, https').fill('https://files.example/list.csv')
  expect(await page.getByLabel('File in the locker').inputValue()).toBe('list.csv')
  await page.getByText('The address must begin with https://').waitFor({ state: 'hidden' })
  await expectGoodLooks(visited, 'agent-delegate')
  const signatures = wallet.seen.length
  await button(page, 'Delegate').click()
  await page.getByText('Delegated. Its key is registered').waitFor()
  const [key] = await operatorsOf(locker)
  // The page handed over the one locker that it named.
  expect(await operatorsOf(locker)).toHaveLength(1)
  expect(await operatorsOf(untouched)).toEqual([])
  // One for the service, one for the gateway; the third reads the list again.
  await button(page, /^Show findings/).waitFor()
  expect(wallet.seen.length - signatures).toBe(3)

  await agent.context.queue.drain()
  await button(page, 'Refresh').click()
  await page.getByText('At work').waitFor()
  await button(page, /^Show findings/).click()
  await page.getByText(/checked in this browser/).waitFor()
  await page.getByText('First look at the locker').waitFor()
  await page.getByText('Cannot be fetched', { exact: true }).waitFor()
  await expectGoodLooks(visited, 'agent-findings')
  expect(await page.locator('img[src="x"]').count()).toBe(0)

  await button(page, /^End /).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('Ended', { exact: true }).waitFor()
  expect(await operatorsOf(locker)).not.toContain(key)
  await expectGoodLooks(visited, 'agent-ended')
  // A quote is a 402, which the browser notes. A node that is late is asked again.
  expect(problems.filter((problem) => !/status of (402|503) /.test(problem))).toEqual([])
  expect([...origins].toSorted()).toEqual([site.url, agentUrl].toSorted())
  await visited.leave()
})

it('T-74 shows no finding of a log that was changed, and says so', { tags: ['nightly'] }, async () => {
  const locker = await newLocker()
  const visited = await visit(site, '/agent')
  const { page } = visited
  await useKey(page, OWNER)
  await button(page, 'Show my lockers').click()
  await page.getByLabel('Locker', { exact: true }).selectOption(locker.receipt_id)
  await button(page, 'Delegate').click()
  await page.getByText('Delegated. Its key is registered').waitFor()
  await agent.context.queue.drain()
  await page.route(`${agentUrl}/v1/delegations/*`, async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    body.log[0].detail.files = 1_000_000
    await route.fulfill({ response, json: body })
  })
  await page
    .getByRole('listitem')
    .filter({ hasText: locker.locker_id })
    .getByRole('button', { name: /^Show findings/ })
    .click()
  await page.getByText('This log cannot be trusted').waitFor()
  expect(await page.getByText('First look at the locker').count()).toBe(0)
  await expectGoodLooks(visited, 'agent-untrue')
  await visited.leave()
})

it('T-74 T-67 a payment that a reload cuts short is settled, and never made twice', { tags: ['nightly'] }, async () => {
  const visited = await visit(site, '/agent')
  const { page } = visited
  await useKey(page, OTHER)
  const before = await treasuryUsdc()
  // The service is paid, and its answer never comes.
  await page.route(`${agentUrl}/v1/service/confirm`, () => {})
  await button(page, 'Subscribe').click()
  const asked = page.waitForRequest(`${agentUrl}/v1/service/confirm`)
  await payUsdc(page)
  await asked
  await page.reload()
  await page.unroute(`${agentUrl}/v1/service/confirm`)
  await useKey(page, OTHER)
  await page.getByText('You have no subscription.').waitFor()
  await page.getByText('A payment was started').waitFor()
  await expectGoodLooks(visited, 'agent-begun')
  expect(await button(page, 'Subscribe').count()).toBe(0)
  await button(page, 'Check its status').click()
  await page.getByText(/Your subscription runs until/).waitFor()
  expect((await treasuryUsdc()) - before).toBe(PRICE_USDC)

  // It runs out.
  await agent.context.database.db
    .updateTable('subscriptions')
    .set({ expires_at: 1_700_000_000 })
    .where('identity', '=', OTHER.address)
    .execute()
  await button(page, 'Refresh').click()
  await page.getByText(/It ended on/).waitFor()
  expect(await card(page, 'Delegate a locker').count()).toBe(0)
  await expectGoodLooks(visited, 'agent-expired')
  await visited.leave()
})

it('T-74 T-67 a wallet of an EVM chain pays; its lost answer is settled by its transaction or on the word of its person', {
  tags: ['nightly'],
}, async () => {
  let wallet!: InjectedWallet
  const visited = await visit(site, '/agent', undefined, async (page) => {
    wallet = await injectEvmWallet(page, { account: DEV_PAYERS[2]!, rpcUrl: site.chains.evm.url })
  })
  const { page } = visited
  const connect = async () => {
    await button(page, /Test EVM wallet/).click()
    await card(page, 'Subscription').waitFor()
  }
  const requests = () => wallet.seen.filter((what) => what === 'send').length
  await connect()
  const before = await treasuryUsdcOnEvm()
  await button(page, 'Subscribe').click()
  await payUsdc(page)
  await page.getByText(/Your subscription runs until/).waitFor()

  await button(page, 'Add 30 days').click()
  wallet.answer(null)
  await payUsdc(page)
  await expect.poll(requests).toBe(2)
  await page.reload()
  // The wallet sends, and nobody hears its answer.
  wallet.answer('approve')
  await expect.poll(() => wallet.sent.length).toBe(2)
  await connect()
  await page.getByText('A payment was started').waitFor()
  await expectGoodLooks(visited, 'agent-lost-answer')
  expect(await button(page, 'Add 30 days').count()).toBe(0)
  await button(page, 'Check its status').click()
  await page.getByText('its answer did not arrive').waitFor()
  const paste = async (tx: string) => {
    await page.getByLabel('Transaction').fill(tx)
    await button(page, 'I have paid: get the receipt').click()
  }
  // One that paid for something else changes nothing.
  await paste(wallet.sent[0] as string)
  await page.getByText('The payment was made, but the gateway does not accept it').waitFor()
  await paste(wallet.sent[1] as string)
  await page.getByText(/Your subscription runs until/).waitFor()

  await button(page, 'Add 30 days').click()
  wallet.answer(null)
  await payUsdc(page)
  await button(page, 'My wallet shows no request').click()
  await page.getByText('its answer did not arrive').waitFor()
  await page.getByLabel(/I have looked/).check()
  await button(page, /^Nothing was sent/).click()
  await page.getByText('That payment was not made.').waitFor()
  wallet.answer('reject')
  await button(page, /^Pay [\d.]+ USDC/).waitFor()
  expect([requests(), wallet.sent.length]).toEqual([3, 2])
  expect((await treasuryUsdcOnEvm()) - before).toBe(2n * PRICE_USDC)
  await visited.leave()
})

it('T-74 says when there is no agent service, when it is down, and when it works for another gateway', {
  tags: ['nightly'],
}, async () => {
  const discovery = `${agentUrl}/.well-known/svc-agent.json`
  const visited = await visit(site, '/agent', undefined, async (page) => {
    await page.route(discovery, (route) => route.abort())
  })
  const { page } = visited
  await page.getByText('The agent service does not answer').waitFor()
  await expectGoodLooks(visited, 'agent-down')
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
  await visited.leave()
})

it('T-74 a mirror is failing from its finding on, until a later run had no failure', () => {
  const source = { url: 'https://files.example/a', filename: 'a' }
  const tasks = { mirror: { sources: [source, { url: 'https://files.example/b', filename: 'b' }] } }
  const finding = (kind: string, at: string) => ({ kind, at, detail: { ...source, reason: 'gone' } })
  const run = (started_at: string, failed?: number) => ({
    task: 'mirror',
    outcome: 'done',
    started_at,
    summary: { failed },
  })
  const stateOf = (log: object[], runs: object[]) =>
    mirrorViews({ tasks, log, runs } as unknown as Parameters<typeof mirrorViews>[0])[0]?.state
  const [one, two, three] = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z'] as const
  expect(stateOf([], [])).toBe('waiting')
  expect(stateOf([], [run(one)])).toBe('ok')
  expect(stateOf([finding('mirror_failed', two)], [run(one, 1)])).toBe('failing')
  expect(stateOf([finding('mirror_failed', one)], [run(two, 1)])).toBe('unknown')
  expect(stateOf([finding('mirror_failed', one)], [run(two, 2)])).toBe('failing')
  expect(stateOf([finding('mirror_failed', one)], [run(two)])).toBe('ok')
  expect(stateOf([finding('mirror_failed', one), finding('mirror_changed', three)], [run(two, 1)])).toBe('ok')
})
