// @module-tag nightly

import { sha256Hex } from '@svc/protocol/sha256'
import { createClient } from '@svc/sdk'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import { bundleOf, listedFiles } from '@svc/verifier/test/bundles'
import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { useSite } from './site.ts'
import { expectAccessible, expectNoErrors, visit } from './visit.ts'

const site = useSite()
/** Three statements: one file; then it is changed and two are added; then one is renamed and one removed. */
beforeAll(async () => {
  const { locker, url, keypair } = site
  const client = createClient({ baseUrl: url, signer: signerFromSolanaKeypair(keypair), onWarning: () => {} })
  const put = (name: string, text: string) => client.put(locker, name, new TextEncoder().encode(text))
  await put('notes/b.txt', 'two')
  await put('c.txt', 'three')
  await client.attest(locker)
  await put('notes/renamed.txt', 'two')
  await client.remove(locker, 'notes/b.txt')
  await client.remove(locker, 'c.txt')
  await client.attest(locker)
})

const bundleFile = (bundle: object, name = 'bundle.json') => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(bundle)),
})
const openBundle = async (page: Page, bundle: object) => {
  await page.getByLabel('Choose a bundle').setInputFiles(bundleFile(bundle))
  await page.getByRole('tab', { name: 'Files and tree' }).waitFor()
}
const openTab = async (page: Page, name: string) => page.getByRole('tab', { name }).click()
const showPath = async (page: Page, name: string) => {
  await page.getByRole('button', { name: `Show path of ${name}`, exact: true }).click()
  await page.getByRole('radiogroup').waitFor()
}
const files = (texts: Record<string, string>) =>
  Object.entries(texts).map(([filename, text]) => ({
    filename,
    size_bytes: text.length,
    content_hash: sha256Hex(text),
  }))

describe('the picture of the tree', () => {
  it('T-38 shows the path of a file among thousands, and how each node is computed', async () => {
    const { page } = await visit(site, '/verify')
    await openBundle(page, bundleOf(listedFiles(5000)))
    await showPath(page, 'f0000003')
    await page.getByText('Leads to the root of the statement').waitFor()
    await page.getByText('File 4 of 5,000, by name. 13 hashes beside the path represent all the other files.').waitFor()
    const tree = page.getByRole('radiogroup')
    expect(await tree.getByRole('radio').count()).toBe(2 + 2 * 8)
    await expectAccessible(page, 'tree-many')

    // The keyboard needs one stop, and arrow keys follow the path.
    await tree.getByRole('radio', { checked: true }).focus()
    const detail = page.locator('.tree-detail')
    await detail.getByText(`f0000003:3:${'ab'.repeat(32)}`).waitFor()
    await page.keyboard.press('ArrowLeft')
    await detail.getByText('Computed here from file 3, in the same way.').waitFor()
    await page.keyboard.press('ArrowUp')
    await detail.getByText('SHA-256 of the two hashes below it').waitFor()
    const halves = (await detail.locator('.tree-value').last().locator('code').textContent()) as string
    const hash = (await detail.locator('.tree-value').first().locator('code').textContent()) as string
    expect(halves).toHaveLength(128)
    expect(sha256Hex(halves)).toBe(hash)
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      `Level 1, on the path: ${hash}`,
    )
    await page.getByRole('button', { name: 'Show all 13 levels' }).click()
    expect(await tree.getByRole('radio').count()).toBe(2 + 2 * 13)
    await page.getByText('The same in steps').click()
    expect(await page.locator('.tree-steps li').count()).toBe(1 + 13 + 1)
    await page.getByText('This is the root that the statement names.').waitFor()
    expectNoErrors(page)
  })

  it('T-38 draws a path to another root as broken, and hostile names as plain text', async () => {
    const { page } = await visit(site, '/verify')
    const hostile = '<img src=x onerror=alert(1)>\u202Egnp.exe'
    const bundle = bundleOf(files({ 'a.txt': 'one', 'b.txt': 'two', [hostile]: 'three' }))
    await openBundle(page, bundle)
    await page.getByRole('button', { name: /^Show path of <img/ }).click()
    await page.getByText('Leads to the root of the statement').waitFor()
    expect(await page.locator('.tree-detail').textContent()).toContain('\\u{202e}gnp.exe')
    await page.getByText('Invisible characters').waitFor()
    expect(await page.locator('.tree img').count()).toBe(0)

    const altered = { ...bundle, files: bundle.files.map((file, i) => (i === 1 ? { ...file, size_bytes: 4 } : file)) }
    await page.getByRole('button', { name: 'Check another bundle' }).click()
    await openBundle(page, altered)
    await showPath(page, 'a.txt')
    await page.getByText('Leads to a different root than the one in the statement').waitFor()
    expect(await page.locator('.tree-edge-good').count()).toBe(0)
    expect(await page.locator('.tree-edge-bad').count()).toBe(1)
    await expectAccessible(page, 'tree-broken')

    await page.getByRole('button', { name: 'Check another bundle' }).click()
    await openBundle(page, bundleOf(files({ 'only.txt': 'one' })))
    await showPath(page, 'only.txt')
    await page.getByText('It is the only file: its leaf is the root.').waitFor()
    expectNoErrors(page)
  })
})

describe('the picture of the history', () => {
  it('T-38 links the statements that were checked in the page, and marks the current one', async () => {
    const { page } = await visit(site, `/verify/${site.locker.receipt_id}`)
    await openTab(page, 'History')
    await page.getByText('3 statements were recomputed here: each signature and each link is valid.').waitFor()
    await page.getByText('It is unknown whose key signed').waitFor()
    expect(await page.locator('.history-summary .status-good').count()).toBe(0)
    const statements = page.locator('.statement')
    expect(await statements.locator('h3').allTextContents()).toEqual(['Statement 3', 'Statement 2', 'Statement 1'])
    expect(await page.locator('.link-linked').count()).toBe(2)
    expect(await statements.first().textContent()).toContain('this bundle')
    await expectAccessible(page, 'history')
    await page.getByLabel('Public keys').fill(await (await fetch(`${site.url}/v1/keys`)).text())
    await page.getByRole('button', { name: 'Trust these keys' }).click()
    await page.locator('.history-summary .status-good').waitFor()
    expectNoErrors(page)
  })
})

describe('the differences of two statements', () => {
  it('T-38 name the added, changed, removed and renamed files, with the reasons for doubt', async () => {
    const { page } = await visit(site, `/verify/${site.locker.receipt_id}`)
    await openTab(page, 'Differences')
    expect(await page.getByLabel('Number of the statement').inputValue()).toBe('2')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('cell', { name: 'was notes/b.txt' }).waitFor()
    expect(await page.locator('.difference-kinds').textContent()).toBe(
      ['Show', '0 Added', '0 Changed', '1 Removed', '1 Renamed', '1 Unchanged'].join(''),
    )
    expect(await page.locator('.differences-warning').count()).toBe(0)
    await page.getByLabel('Unchanged').check()
    await page.getByRole('cell', { name: 'hello.txt' }).waitFor()
    await page.getByLabel('Part of a name').fill('NOTES')
    await page.getByText('1 of 1').waitFor()
    await page.getByLabel('Part of a name').fill('')
    await page.getByText('3 of 3').waitFor()
    await expectAccessible(page, 'differences')

    // This bundle has another signer, and was altered.
    await page.getByRole('combobox', { name: 'Before' }).selectOption({ label: 'A bundle from this device' })
    const foreign = bundleOf(files({ 'hello.txt': 'other' }))
    const altered = { ...foreign, commitment: { ...foreign.commitment, file_count: 9 } }
    await page.getByLabel('Before: choose a bundle').setInputFiles(bundleFile(altered))
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('These statements are about two different lockers.').waitFor()
    await page.getByText(/Before: do not rely on its list/).waitFor()
    await expectAccessible(page, 'differences-foreign')
    await page.getByRole('combobox', { name: 'Before' }).selectOption({ label: 'Another statement of this locker' })
    await page.getByLabel('Number of the statement').fill('99')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('The bundles cannot be compared').waitFor()
    expectNoErrors(page, 404)
  })
})
