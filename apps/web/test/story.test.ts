import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSite, type Site } from './site.ts'
import { dropPaths, visit } from './visit.ts'

let site: Site
let folder: string
beforeAll(async () => {
  // The pages show what is final.
  site = await openSite({ landing: 'at once' })
  folder = mkdtempSync(join(tmpdir(), 'svc-story-'))
})
afterAll(async () => {
  await site.close()
  rmSync(folder, { recursive: true })
})

it('PAY-01 LOCK-02 FILE-12 SHORT-05 T-63 a person buys, drops files in, attests and shares; a stranger checks it', {
  tags: ['nightly'],
}, async () => {
  const photos = join(folder, 'photos')
  mkdirSync(photos)
  writeFileSync(join(photos, 'sum.txt'), 'the sum is 42')
  writeFileSync(join(photos, 'note.md'), '# A note')

  const owner = await visit(site, '/')
  const { page } = owner
  await page.getByRole('link', { name: 'Buy a locker' }).first().click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /Demo wallet/ }).click()
  await page.getByRole('button', { name: /^Pay [\d.]+ / }).click()
  await page.getByRole('heading', { name: 'Paid. This is your receipt.' }).waitFor()
  const receiptId = (await page
    .getByText(/^rcpt_/)
    .first()
    .textContent()) as string

  await page.getByRole('link', { name: 'Open the locker' }).click()
  await page.getByRole('button', { name: /Demo wallet.*Solana/s }).click()
  await page.getByLabel('Name').fill('Photos')
  await page.getByRole('button', { name: 'Open the locker' }).click()
  await page.getByRole('heading', { name: 'Photos' }).waitFor()
  await page.getByText('No files yet').waitFor()
  // Styles of all pages that are loaded again would undo those of this one.
  const styles = await page.evaluate(() => [...document.styleSheets].map(({ href }) => href))
  expect(styles).toEqual([...new Set(styles)])
  await dropPaths(page, [photos])
  await page.getByText('2 of 2 files').waitFor()

  await page.getByRole('tab', { name: 'Proof' }).click()
  await page.getByRole('button', { name: 'Attest and publish' }).click()
  const dialog = page.getByRole('dialog')
  await page.getByRole('list', { name: 'Where it stands' }).getByText('Final').waitFor()
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'photos', exact: true }).click()
  await page.getByRole('button', { name: 'sum.txt', exact: true }).click()
  await dialog.getByText('the sum is 42').waitFor()
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByLabel('The link works for').selectOption('15 minutes')
  await page.getByRole('button', { name: 'Make a link', exact: true }).click()
  await page.getByRole('img', { name: 'The link as a QR code' }).waitFor()
  const link = (await dialog.locator('code').textContent()) as string
  // A quote is a 402, and a locker that was only paid for a 404.
  expect(owner.problems.filter((problem) => !/ 40[24] /.test(problem))).toEqual([])
  expect([...owner.origins]).toEqual([site.url])
  await owner.leave()

  const keys = await (await fetch(`${site.url}/v1/keys`)).text()
  const stranger = await visit(site, `/verify/${receiptId}`)
  const { page: clean } = stranger
  const shared = await clean.context().request.get(link)
  expect(await shared.text()).toBe('the sum is 42')
  await clean.getByLabel('Public keys').fill(keys)
  await clean.getByRole('button', { name: 'Trust these keys' }).click()
  await clean.locator('#key_pinned.fact-passed').waitFor()
  await clean.getByLabel('Choose a folder', { exact: true }).setInputFiles(photos)
  await clean.locator('#files_match.fact-passed').waitFor()
  await clean.getByLabel('Address of a node of the primary chain').fill(site.chains.primary.url)
  await clean.getByRole('button', { name: 'Ask this node' }).click()
  await clean.getByRole('heading', { level: 2, name: /All \d+ checks passed/ }).waitFor()

  await clean.goto(`${site.url}/view/${receiptId}/photos/note.md`)
  await clean.getByRole('heading', { name: 'A note' }).waitFor()
  expect(stranger.problems).toEqual([])
  await stranger.leave()
})
