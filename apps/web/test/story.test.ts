// @module-tag nightly

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useFolder, useSite } from './site.ts'
import { click, dropPaths, expectNoErrors, visit } from './visit.ts'

// The pages show what is final.
const site = useSite({ landing: 'at once' })
const folder = useFolder()

it('PAY-01 LOCK-02 a customer buys, adds files, attests and shares; anyone can check it', async () => {
  const photos = join(folder, 'photos')
  mkdirSync(photos)
  writeFileSync(join(photos, 'sum.txt'), 'the sum is 42')

  const { page } = await visit(site, '/')
  await page.getByRole('link', { name: 'Buy a locker' }).first().click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /Demo wallet.*Solana/ }).click()
  await page.getByRole('button', { name: /^Pay [\d.]+ / }).click()
  await page.getByRole('heading', { name: 'Paid. This is your receipt.' }).waitFor()
  const receiptId = (await page
    .getByText(/^rcpt_/)
    .first()
    .textContent()) as string

  await page.getByRole('link', { name: 'Open the locker' }).click()
  // The wallet that paid is still connected.
  await page.getByLabel('Name').fill('Photos')
  await page.getByRole('button', { name: 'Open the locker' }).click()
  await page.getByRole('heading', { name: 'Photos' }).waitFor()
  await page.getByText('No files yet').waitFor()
  // The styles of other pages, loaded again, would override those of this page.
  const styles = await page.evaluate(() => [...document.styleSheets].map(({ href }) => href))
  expect(styles).toEqual([...new Set(styles)])
  await dropPaths(page, [photos])
  await page.getByText('1 of 1 file').waitFor()

  await page.getByRole('tab', { name: 'Proof' }).click()
  await page.getByRole('button', { name: 'Attest and publish' }).click()
  const dialog = page.getByRole('dialog')
  await page.getByRole('list', { name: 'Progress' }).getByText('Final').waitFor()
  await page.getByRole('tab', { name: 'Files' }).click()
  await click(page, 'photos')
  await click(page, 'sum.txt')
  await dialog.getByText('the sum is 42').waitFor()
  await click(page, 'Share')
  await page.getByLabel('The share works for').selectOption('1 hour')
  await click(page, 'Create a share')
  await page.getByRole('img', { name: 'The address as a QR code' }).waitFor()
  const link = (await dialog.locator('code').textContent()) as string
  expectNoErrors(page, 402) // A quote.

  const keys = await (await fetch(`${site.url}/v1/keys`)).text()
  const { page: clean, problems } = await visit(site, `/verify/${receiptId}`)
  const shared = await clean.context().request.get(link)
  expect(await shared.text()).toBe('the sum is 42')
  await clean.getByLabel('Public keys').fill(keys)
  await clean.getByRole('button', { name: 'Trust these keys' }).click()
  await clean.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
  await clean.getByLabel('Choose a folder', { exact: true }).setInputFiles(photos)
  await clean.locator('#files_match.fact-passed').waitFor({ state: 'attached' })
  await clean.getByLabel('Address of a Solana node').fill(site.chains.primary.url)
  await clean.getByRole('button', { name: 'Ask this node' }).click()
  await clean.getByRole('heading', { level: 2, name: /All \d+ checks passed/ }).waitFor()

  expect(problems).toEqual([])
})
