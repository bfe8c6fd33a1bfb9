// The essential checks of the pages, each once and briefly. The long tests beside this file run nightly.

import { readFileSync } from 'node:fs'
import type { LogState } from '@svc/api/log'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { signerFromEvmKey } from '@svc/sdk/signers'
import { beforeAll, expect, it } from 'vitest'
import { injectEvmWallet } from './injected-wallets.ts'
import { alarm, entryCard, lookUp, otherLog, publish, showLog } from './log-page.ts'
import { useSite } from './site.ts'
import { click, expectNoErrors, visit } from './visit.ts'

const site = useSite({ withLog: true })
beforeAll(async () => {
  // The cosignature of a slow witness is in the next published checkpoint.
  for (let checkpoint = ''; !checkpoint.includes('\n— one.example '); ) {
    await publish(site)
    checkpoint = await (await fetch(`${site.url}/log/checkpoint`)).text()
  }
})

it('LOG-40 the log page shows the signed checkpoint, and the witnesses that cosigned it', async () => {
  const { page } = await visit(site, '/log')
  await page.getByText('This is your browser’s first visit to this log, which has 1 entry.').waitFor()
  await page.getByText(/^one cosigned on .* UTC$/).waitFor()
  await page.getByText('No checkpoint has been published on chain yet.').waitFor()
  const { root } = (await (await fetch(`${site.url}/v1/log`)).json()) as LogState
  expect(await entryCard(page, 'The newest checkpoint').getByText(root!).count()).toBe(1)
  expectNoErrors(page)
})

it('LOG-41 LOG-42 the log page lists entries, and proves one by its number or its digest', async () => {
  const { page } = await visit(site, '/log#0')
  await entryCard(page, 'Entry 0').getByText('Proven here').waitFor()
  await page.getByRole('cell', { name: 'proven', exact: true }).waitFor()
  await lookUp(page, '7'.repeat(64))
  await page.getByRole('heading', { name: 'This statement is not in the log' }).waitFor()
  await lookUp(page, site.digest.toUpperCase())
  await entryCard(page, 'Entry 0').getByText('Proven here').waitFor()
  expect(await entryCard(page, 'Entry 0').textContent()).toContain(site.digest)
})

it('LOG-43 the log page raises an alarm if the history differs from the one this browser saw', async () => {
  const { page } = await visit(site, '/log')
  await page.getByText('first visit to this log').waitFor()
  await showLog(page, await otherLog(4))
  await page.reload()
  await alarm(page, 'This log has rewritten its history')
  await showLog(page, null)
  await page.reload()
  await page.getByText('This log is unchanged since your last visit').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

it('LOG-40 the log page does not hide the log files, works under a prefix, and is linked from the welcome page', async () => {
  const typeOf = async (path: string) => (await fetch(site.url + path)).headers.get('content-type')
  expect([await typeOf('/log/checkpoint'), await typeOf('/log')]).toEqual([
    'text/plain; charset=utf-8',
    'text/html; charset=utf-8',
  ])
  const { page } = await visit({ ...site, url: site.prefixedUrl }, '/')
  await page.getByRole('link', { name: /entr(y|ies) in the public log/ }).click()
  await page.getByRole('cell', { name: 'proven', exact: true }).first().waitFor()
  expect(page.url()).toBe(`${site.prefixedUrl}/log`)
  expectNoErrors(page)
})

it('LOG-31 LOG-35 the verify page checks the log of a bundle by the given policy, and names the witnesses', async () => {
  const { page } = await visit(site, '/verify')
  const root = new URL('../../../', import.meta.url)
  const bundle = readFileSync(new URL('vectors/bundles/log.json', root))
  await page
    .getByLabel('Choose a bundle')
    .setInputFiles({ name: 'log.json', mimeType: 'application/json', buffer: bundle })
  await page.locator('#log_included.fact-not_checked').waitFor({ state: 'attached' })
  await page.getByText('Publication keys, domain tag and logs').click()
  await page.getByLabel('Logs and witnesses').fill(readFileSync(new URL('docs/examples/log.policy', root), 'utf8'))
  await click(page, 'Use these')
  await page.locator('#log_included.fact-passed').waitFor({ state: 'attached' })
  await page.locator('#log_cosigned.fact-passed').waitFor({ state: 'attached' })
  await page.getByText('w1.example/witness, 2026-06-12T00:00:01Z').waitFor()
  expectNoErrors(page)
})

it('T-68 OPER-08 an EVM owner opens a paid locker for the browser with one signature, even if the clock is wrong', async () => {
  const account = DEV_PAYERS[1]!
  await seedReceipt(site.gateway.context, { owner: signerFromEvmKey(account.privateKey).address })
  const { page, prepared: wallet } = await visit(site, '/locker', undefined, async (page) => {
    await page.addInitScript(() => {
      const now = Date.now
      Date.now = () => now() + 3_600_000
    })
    return injectEvmWallet(page, { account, rpcUrl: site.url })
  })
  await page.getByRole('button', { name: 'Test EVM wallet' }).click()
  await page.getByText('Paid, not opened yet').click()
  await click(page, 'Open the locker')
  await page.getByText('No files yet').waitFor()
  expect(wallet.seen).toHaveLength(2) // To list, and to open.
  expectNoErrors(page)
})
