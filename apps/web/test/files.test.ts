// @module-tag nightly

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listShares } from '@svc/api/shares'
import { seedManyFiles } from '@svc/devnet/services/seed-bulk'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { writable } from '@svc/devnet/writable'
import { toBase58 } from '@svc/protocol/bytes'
import { createClient } from '@svc/sdk'
import { decryptedDownload, encrypted, identityKey, newIdentity } from '@svc/sdk/encryption'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import { sql } from 'kysely'
import type { BrowserContextOptions, Page } from 'playwright'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useFolder, useSite } from './site.ts'
import { click, dropPaths, expectAccessible, expectNoErrors, useKey, visit } from './visit.ts'

const MIB = 1024 * 1024

const site = useSite()
const folder = useFolder()

/** A locker with these files. */
async function newLocker(files: Record<string, string> = {}) {
  const signer = signerFromSolanaKeypair(site.keypair)
  const row = await seedLocker(site.gateway.context, { owner: signer.address })
  const { locker_id, receipt_id } = row
  const locker = { locker_id, receipt_id }
  const client = createClient({ baseUrl: site.url, signer, onWarning: () => {} })
  for (const [name, text] of Object.entries(files)) await client.put(locker, name, Buffer.from(text))
  const names = async () => {
    const found: string[] = []
    for await (const { filename } of client.files(locker)) found.push(filename)
    return found
  }
  const bytes = async (name: string) => Buffer.from(await (await client.get(locker, name)).bytes())
  return { row, locker, client, names, bytes }
}

async function unlock(page: Page): Promise<void> {
  await useKey(page, toBase58(Uint8Array.from(site.keypair)))
  await page.getByRole('button', { name: 'Encrypt', exact: true }).waitFor()
}

async function visitFiles(
  { locker }: Pick<Awaited<ReturnType<typeof newLocker>>, 'locker'>,
  options?: BrowserContextOptions,
) {
  const visited = await visit(site, `/locker/${locker.locker_id}`, options)
  await unlock(visited.page)
  return visited
}

const nameButton = (page: Page, name: string) => page.getByRole('row').getByRole('button', { name, exact: true })
const picker = (page: Page) => page.getByLabel('Upload files', { exact: true })
const dialog = (page: Page) => page.getByRole('dialog')
const textFile = (name: string, text = name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })

/** A file on disk that is large enough to be sent in parts, each with different content. */
function largeFile(name: string, parts: number): { path: string; bytes: Buffer } {
  const bytes = Buffer.alloc(parts * 8 * MIB - 5)
  for (let i = 0; i < parts; i++)
    bytes.fill(`part ${i} of ${name} `, i * 8 * MIB, Math.min(bytes.length, (i + 1) * 8 * MIB))
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return { path, bytes }
}

/** The parts that were sent; from `held` on, they wait for `release`. */
async function watchParts(page: Page, held = Number.POSITIVE_INFINITY) {
  const sent: number[] = []
  const waiting: (() => void)[] = []
  let isHeld = true
  await page.route('**/parts?*', async (route) => {
    const index = Number(new URL(route.request().url()).searchParams.get('index'))
    if (isHeld && index >= held) await new Promise<void>((resolve) => waiting.push(resolve))
    sent.push(index)
    await route.continue().catch(() => {})
  })
  const release = () => {
    isHeld = false
    for (const resolve of waiting) resolve()
  }
  return { sent, release }
}

describe('uploads', () => {
  it('FILE-12 accept dropped files and folders, and an empty file', async () => {
    const testbed = await newLocker()
    const { page } = await visitFiles(testbed)
    await page.getByText('No files yet').waitFor()
    await expectAccessible(page, 'files-empty')
    const dropped = join(folder, 'photos')
    mkdirSync(join(dropped, 'deep'), { recursive: true })
    writeFileSync(join(dropped, 'a.txt'), 'in a folder')
    writeFileSync(join(dropped, 'deep', 'b.txt'), 'deep')
    writeFileSync(join(folder, 'alone.txt'), '')
    await dropPaths(page, [dropped, join(folder, 'alone.txt')])
    await page.getByText('3 of 3 files').waitFor()
    expect(await testbed.names()).toEqual(['alone.txt', 'photos/a.txt', 'photos/deep/b.txt'])
    expect(String(await testbed.bytes('photos/deep/b.txt'))).toBe('deep')
    await expectAccessible(page, 'files-uploaded')
    await click(page, 'Clear')
    await nameButton(page, 'photos').waitFor()
    await expectAccessible(page, 'files-folders')
    expectNoErrors(page)
  })

  it('SESS-02 SESS-04 continue after a reload with the missing parts, and only with the same file', async () => {
    const testbed = await newLocker()
    const { path, bytes } = largeFile('large.bin', 4)
    const { page } = await visitFiles(testbed)
    const asked: string[] = []
    page.on('dialog', (question) => {
      asked.push(question.type())
      void question.accept()
    })
    const first = await watchParts(page, 2)
    await picker(page).setInputFiles(path)
    await expect.poll(() => first.sent.toSorted()).toEqual([0, 1])
    await page.getByText('Uploading ·').waitFor()
    await page.waitForFunction(() => (document.querySelector<HTMLProgressElement>('.upload progress')?.value ?? 0) > 0)
    await expectAccessible(page, 'files-uploading')
    await page.reload()
    // Not earlier, because the browser would send the delayed parts.
    await page.unroute('**/parts?*')
    expect(asked).toEqual(['beforeunload'])
    await unlock(page)
    const unfinished = page.getByRole('region', { name: 'Unfinished uploads' })
    await unfinished.getByText('large.bin').waitFor()
    await expectAccessible(page, 'files-unfinished')
    const other = join(folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'large.bin'), 'changed')
    await page.getByLabel('Choose the files again').setInputFiles(join(other, 'large.bin'))
    await unfinished.getByText('One file has changed since').waitFor()
    const second = await watchParts(page)
    await page.getByLabel('Choose the files again').setInputFiles(path)
    await page.getByText('1 of 1 file').waitFor()
    expect(second.sent.toSorted()).toEqual([2, 3])
    expect((await testbed.bytes('large.bin')).equals(bytes)).toBe(true)
    await page.reload()
    await unlock(page)
    await nameButton(page, 'large.bin').waitFor()
    expect(await unfinished.count()).toBe(0)
  })

  it('SESS-02 SESS-04 can be paused, continued and cancelled', async () => {
    const testbed = await newLocker()
    const { path, bytes } = largeFile('paused.bin', 3)
    const { page } = await visitFiles(testbed)
    const parts = await watchParts(page, 1)
    await picker(page).setInputFiles(path)
    await expect.poll(() => parts.sent).toEqual([0])
    await page.waitForFunction(() => (document.querySelector<HTMLProgressElement>('.upload progress')?.value ?? 0) > 0)
    await click(page, 'Pause paused.bin')
    await page.getByText('Paused ·').waitFor()
    await page.unroute('**/parts?*')
    const rest = await watchParts(page)
    await click(page, 'Continue all')
    await page.getByText('1 of 1 file').waitFor()
    expect(rest.sent.toSorted()).toEqual([1, 2])
    expect((await testbed.bytes('paused.bin')).equals(bytes)).toBe(true)

    await page.unroute('**/parts?*')
    await watchParts(page, 0)
    await picker(page).setInputFiles(largeFile('cancelled.bin', 2).path)
    await page.getByText('Uploading ·').waitFor()
    await click(page, 'Cancel cancelled.bin')
    await page.getByText('1 of 1 file').waitFor()
    await page.reload()
    await unlock(page)
    await nameButton(page, 'paused.bin').waitFor()
    expect(await page.getByText('cancelled.bin').count()).toBe(0)
  })

  it('SESS-04 T-68 continue while other pages are shown, and end when the locker is locked', async () => {
    const testbed = await newLocker()
    const { page } = await visitFiles(testbed)
    const uploads = page.getByRole('region', { name: 'Uploads', exact: true })
    const parts = await watchParts(page, 1)
    await picker(page).setInputFiles(largeFile('locked.bin', 2).path)
    await expect.poll(() => parts.sent).toEqual([0])
    await page.getByRole('navigation').getByRole('link', { name: 'Locker', exact: true }).click()
    const link = page.getByRole('link', { name: testbed.locker.locker_id })
    await link.waitFor()
    // The browser asks before the document is left, on every page.
    expect(await page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })))).toBe(false)
    await link.click()
    await uploads.getByText('Uploading ·').waitFor()
    await click(page, 'Lock')
    parts.release()
    await unlock(page)
    await page.getByRole('region', { name: 'Unfinished uploads' }).getByText('locked.bin').waitFor()
    expect([await testbed.names(), await uploads.count()]).toEqual([[], 0])
  })

  it('FILE-03 T-17 ask once about existing names, and continue after refused files', async () => {
    const testbed = await newLocker({ 'a.txt': 'old', 'b.txt': 'old' })
    const { page } = await visitFiles(testbed)
    await nameButton(page, 'a.txt').waitFor()
    await picker(page).setInputFiles([textFile('a.txt', 'new'), textFile('b.txt', 'new'), textFile('c.txt', 'new')])
    await dialog(page).getByText('2 files with these names already exist').waitFor()
    await expectAccessible(page, 'files-conflicts')
    await click(page, 'Keep both')
    await page.getByText('3 of 3 files').waitFor()
    expect(await testbed.names()).toEqual(['a (2).txt', 'a.txt', 'b (2).txt', 'b.txt', 'c.txt'])
    await picker(page).setInputFiles([textFile('no:colon.txt'), textFile('fine.txt')])
    await page.getByText('4 of 5 files').waitFor()
    expect(await page.getByText("The name must not contain ':'.").count()).toBe(1)
    await expectAccessible(page, 'files-refused')
  })

  it('LOCK-15 report that a locker is full', async () => {
    const { config, database } = site.gateway.context
    const full = await newLocker()
    const terms = JSON.stringify({ ...JSON.parse(full.row.terms), file_limit: 2 })
    const lockers = writable(database.db).updateTable('lockers').set({ terms })
    await lockers.where('locker_id', '=', full.locker.locker_id).execute()
    const { enforcesTerms } = config.lockers
    Object.assign(config.lockers, { enforcesTerms: true })
    onTestFinished(() => void Object.assign(config.lockers, { enforcesTerms }))
    const { page } = await visitFiles(full)
    await picker(page).setInputFiles(['1', '2', '3', '4'].map((name) => textFile(name)))
    await page.getByText('2 of 4 files').waitFor()
    await page.getByText('The locker is full or has expired').first().waitFor()
    expect((await full.names()).length).toBe(2)
  })
})

describe('the list', () => {
  const focusedName = (page: Page) =>
    page.evaluate(() => document.activeElement?.querySelector('.filename')?.textContent)
  const shownNames = (page: Page) => page.locator('.files-box .filename').allTextContents()

  it('FILE-13 opens folders with the keyboard, sorts and searches', async () => {
    const testbed = await newLocker({
      'docs/2026/plan.txt': 'plan',
      'docs/letter.txt': 'a longer letter',
      'Zeta.md': '#',
    })
    const { page } = await visitFiles(testbed)
    await nameButton(page, 'docs').waitFor()
    expect(await shownNames(page)).toEqual(['docs', 'Zeta.md'])
    await page.getByRole('row').nth(1).focus()
    await page.keyboard.press('ArrowDown')
    expect(await focusedName(page)).toBe('Zeta.md')
    // Entries before it move it, and the focus moves with it.
    await picker(page).setInputFiles(textFile('AAA.txt'))
    await nameButton(page, 'AAA.txt').waitFor()
    expect(await focusedName(page)).toBe('Zeta.md')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await nameButton(page, 'letter.txt').waitFor()
    expect([await shownNames(page), new URL(page.url()).hash]).toEqual([['2026', 'letter.txt'], '#files/docs'])
    await page.goBack()
    await nameButton(page, 'Zeta.md').waitFor()
    await page.getByRole('columnheader', { name: 'Size' }).getByRole('button').click()
    await expect.poll(() => shownNames(page)).toEqual(['docs', 'Zeta.md', 'AAA.txt'])
    await page.getByPlaceholder('Search names').fill('LETTER')
    await expect.poll(() => shownNames(page)).toEqual(['docs/letter.txt'])
    await page.getByText('1 file found').waitFor()
    await page.getByPlaceholder('Search names').fill('nothing like it')
    await page.getByText('No name contains this').waitFor()
    expectNoErrors(page)
  })

  it('FILE-13 T-17 selects and deletes with the keyboard, after a time in which the deletion can be undone', async () => {
    const testbed = await newLocker({ 'docs/a.txt': 'a', 'top.txt': 'top', 'Zeta.md': '#' })
    const { page } = await visitFiles(testbed, {})
    const deleteSelected = () =>
      page.getByRole('region', { name: 'Selected files' }).getByRole('button', { name: 'Delete' }).click()
    await nameButton(page, 'top.txt').waitFor()
    await page.getByRole('row').nth(1).focus()
    await page.keyboard.press('End')
    expect(await focusedName(page)).toBe('top.txt')
    await page.keyboard.press('Space')
    await page.getByText('1 entry selected').waitFor()
    // From here on, only the test moves the clock.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 5_000)
    await page.keyboard.press('Delete')
    await page.getByText('1 entry will be deleted').waitFor()
    await click(page, 'Undo')
    await page.clock.runFor(9_000)
    await page.getByLabel('Select top.txt').click()
    await page.getByLabel('Select docs').click()
    await deleteSelected()
    await page.clock.runFor(7_000)
    expect(await testbed.names()).toContain('top.txt')
    await page.clock.runFor(2_000)
    await page.clock.resume()
    await expect.poll(testbed.names).toEqual(['Zeta.md'])
    // Leaving the page confirms a deletion.
    await page.getByLabel('Select Zeta.md').click()
    await deleteSelected()
    await page.getByRole('link', { name: 'API', exact: true }).click()
    await expect.poll(testbed.names).toEqual([])
  })

  it('FILE-13 FILE-18 downloads a selection as one archive, moves it, and uploads into a new folder', async () => {
    const testbed = await newLocker({ 'docs/a.txt': 'a', 'top.txt': 'top', 'Zeta.md': '#' })
    const { page } = await visitFiles(testbed)
    await page.getByLabel('Select all').check()
    await page.getByText('3 entries selected').waitFor()
    const [saved] = await Promise.all([page.waitForEvent('download'), click(page, 'Download as a zip')])
    expect(saved.suggestedFilename()).toBe(`${testbed.locker.locker_id}.zip`)
    const listed = execFileSync('python3', ['-m', 'zipfile', '-l', await saved.path()], { encoding: 'utf8' })
    for (const name of ['docs/a.txt', 'top.txt', 'Zeta.md']) expect(listed).toContain(name)
    await page.getByLabel('Select all').uncheck()

    await page.getByLabel('Select top.txt').click()
    await page.getByLabel('Select docs').click()
    await click(page, 'Move')
    const dialog = page.getByRole('dialog')
    await page.getByLabel('To the folder').fill('../up')
    await dialog.getByText('The name').waitFor()
    await page.getByLabel('To the folder').fill('archive/2026')
    await expectAccessible(page, 'files-move')
    await dialog.getByRole('button', { name: 'Move' }).click()
    await expect.poll(testbed.names).toEqual(['Zeta.md', 'archive/2026/docs/a.txt', 'archive/2026/top.txt'])

    await click(page, 'New folder')
    await page.getByLabel('Name', { exact: true }).fill('inbox')
    await click(page, 'Open the new folder')
    await page.getByText('This folder is empty').waitFor()
    await picker(page).setInputFiles(textFile('letter.txt'))
    await expect.poll(testbed.names).toContain('inbox/letter.txt')
    const uploads = page.getByRole('region', { name: 'Uploads', exact: true })
    await uploads.getByText('1 of 1 file').waitFor()
    await uploads.getByText('Uploaded ·').waitFor({ state: 'hidden' })
    await click(page, 'Show the list')
    await uploads.getByText('Uploaded ·').waitFor()
    await click(page, 'Hide the list')
    await uploads.getByText('Uploaded ·').waitFor({ state: 'hidden' })
    expectNoErrors(page)
  })

  it('FILE-13 shows any of 100,000 files with few requests', async () => {
    const testbed = await newLocker()
    const { context } = site.gateway
    await seedManyFiles(context, testbed.row, 100_000)
    await sql`update files set filename = 'flat/' || substr(filename, 13) where locker_id = ${testbed.locker.locker_id}
      and filename >= 'folder-0010'`.execute(writable(context.database.db))
    const { page } = await visitFiles(testbed)
    const asked: string[] = []
    page.on('request', (request) => /\/files\?/.test(request.url()) && asked.push(request.url()))
    await nameButton(page, 'flat').click()
    await page.getByText('90,000 entries').waitFor()
    await nameButton(page, 'file-0010000.txt').waitFor()
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('90001')
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    await page.locator('.files-box .files-row').first().focus()
    await page.keyboard.press('End')
    await nameButton(page, 'file-0099999.txt').waitFor()
    await page.locator('.files-box').evaluate((box) => {
      box.scrollTop = box.scrollHeight / 2
    })
    await nameButton(page, 'file-0055000.txt').waitFor()
    expect(asked.length).toBeLessThanOrEqual(6)
    await expectAccessible(page, 'files-many')
    await page.getByPlaceholder('Search names').fill('99998')
    await nameButton(page, 'flat/file-0099998.txt').waitFor()
  })
})

describe('a file', () => {
  it('ADD-61 SHORT-07 is shared by a link and a QR code, or by the public link of the whole locker', async () => {
    const testbed = await newLocker({ 'docs/shared.txt': 'for you', 'docs/other.txt': 'not for you' })
    const { page } = await visitFiles(testbed)
    await nameButton(page, 'docs').click()
    await nameButton(page, 'shared.txt').click()
    await dialog(page).getByText('for you').waitFor()
    await expectAccessible(page, 'files-details')
    await click(page, 'Share')
    await dialog(page)
      .getByText('Anyone with the address can open this file, and nothing else in the locker.')
      .waitFor()
    expect(await page.getByLabel('The share works for').inputValue()).toBe('168')
    await page.getByLabel('The share works for').selectOption('1 day')
    await page.getByLabel('Label').fill('for Ada')
    await click(page, 'Create a share')
    await page.getByRole('img', { name: 'The address as a QR code' }).waitFor()
    await expectAccessible(page, 'files-share')
    const url = (await dialog(page).locator('code').textContent())!
    expect(url).toMatch(`${site.url}/s/`)
    expect(await (await fetch(url)).text()).toBe('for you')
    await page.getByText('Use the public link of the locker instead').click()
    await dialog(page).getByText('it opens every file of the locker').waitFor()
    await click(page, 'Show the public link')
    await page.getByText(`${site.url}/view/${testbed.locker.receipt_id}/docs/shared.txt`).waitFor()
    await expectAccessible(page, 'files-share-public')
    await click(page, 'Close')

    await click(page, 'Share this folder')
    await dialog(page).getByText('every file in this folder, including files that you add later').waitFor()
    await page.getByLabel('The share works for').selectOption('until you end it')
    await dialog(page).getByRole('textbox').press('Enter')
    await page.getByText('It works until you end it.').waitFor()
    const { body } = await testbed.client.call(listShares, { params: { locker_id: testbed.locker.locker_id } })
    const hours = body.shares.map(
      (share) => share.expires_at && Date.parse(share.expires_at) - Date.parse(share.created_at),
    )
    expect(hours).toEqual([86_400_000, null])
    expect(body.shares).toMatchObject([
      { path: 'docs/shared.txt', label: 'for Ada' },
      { path: 'docs/', label: null },
    ])
    expectNoErrors(page)
  })

  it('FILE-18 is renamed, names its statement, and is proven in the page', async () => {
    const testbed = await newLocker({ 'one.txt': '1', 'two.txt': '2' })
    await testbed.client.attest(testbed.locker)
    const { id } = await testbed.client.changePublicLink(testbed.locker, 'rotate')
    const { page } = await visitFiles(testbed)
    const viewer = dialog(page).getByRole('link', { name: 'Open in a tab' })
    const link = page.getByRole('row').filter({ hasText: 'one.txt' }).getByRole('link')
    await link.getByText('in no. 1').waitFor()
    expect(await link.getAttribute('href')).toBe(`${site.url}/verify/${testbed.locker.receipt_id}`)
    await nameButton(page, 'one.txt').click()
    expect(await viewer.getAttribute('href')).toBe(`${site.url}/view/${id}/one.txt`)
    await testbed.client.changePublicLink(testbed.locker, 'close')
    await click(page, 'Check its proof')
    await page.getByText('leads to the root of the newest statement').waitFor()
    await click(page, 'Rename')
    await page.getByLabel('New name').fill('a..b')
    await page.getByText("The name must not contain '..'.").waitFor()
    await page.getByLabel('New name').fill('two.txt')
    await dialog(page).getByRole('button', { name: 'Rename' }).click()
    await page.getByText('A file with this name already exists.').waitFor()
    await expectAccessible(page, 'files-rename')
    await page.getByLabel('New name').fill('sub/three.txt')
    await dialog(page).getByRole('button', { name: 'Rename' }).click()
    await nameButton(page, 'sub').click()
    await nameButton(page, 'three.txt').click()
    await click(page, 'Check its proof')
    await page.getByText('The newest statement does not name this file yet.').waitFor()
    await expect.poll(() => viewer.count()).toBe(0)
    expect(await testbed.names()).toEqual(['sub/three.txt', 'two.txt'])
    await click(page, 'Close')
    await page.getByRole('navigation', { name: 'Folders' }).getByRole('button', { name: 'All files' }).click()
    await page.getByRole('row').filter({ hasText: 'two.txt' }).getByText('likely in no. 1').waitFor()
  })

  const setKey = async (page: Page, identity: string, press: string) => {
    await page.getByLabel('An age key').check()
    await page.getByLabel('Age key', { exact: true }).fill(identity)
    await click(page, press)
  }

  it('T-59 T-68 is decrypted in the page, as on the command line, until the page is locked', async () => {
    const testbed = await newLocker()
    const identity = newIdentity()
    const note = await encrypted(Buffer.from('from the command line'), 'note.txt.age', identityKey([identity]))
    await testbed.client.put(testbed.locker, 'note.txt.age', note)
    const { page } = await visitFiles(testbed)
    await nameButton(page, 'note.txt.age').click()
    await click(page, 'Enter the key')
    await setKey(page, newIdentity(), 'Open with it')
    await dialog(page).getByText('This key does not open the file').waitFor()
    await click(page, 'Close')
    await nameButton(page, 'note.txt.age').click()
    await click(page, 'Enter another key')
    await setKey(page, `# a key file\n${identity}\n`, 'Open with it')
    await dialog(page).getByText('from the command line').waitFor()
    const saved = page.waitForEvent('download')
    await click(page, 'Download decrypted')
    const download = await saved
    expect(download.suggestedFilename()).toBe('note.txt')
    expect(readFileSync(await download.path(), 'utf8')).toBe('from the command line')
    await click(page, 'Lock')
    await unlock(page)
    await nameButton(page, 'note.txt.age').click()
    await dialog(page).getByRole('button', { name: 'Enter the key', exact: true }).waitFor()
    expectNoErrors(page)
  })

  it('T-59 is encrypted in the page, and neither the plaintext nor the key leaves the page', async () => {
    const testbed = await newLocker()
    const identity = newIdentity()
    const { page } = await visitFiles(testbed)
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url() + (request.postDataBuffer()?.toString('latin1') ?? '')))
    await click(page, 'Encrypt')
    await page.getByLabel('A passphrase').check()
    await page.getByLabel('Passphrase', { exact: true }).fill('correct horse')
    await page.getByLabel('Repeat the passphrase').fill('wrong horse')
    await click(page, 'Encrypt with it')
    await page.getByText('The two passphrases differ.').waitFor()
    await expectAccessible(page, 'files-key')
    await setKey(page, identity, 'Encrypt with it')
    await page.getByRole('button', { name: 'Encrypting with an age key' }).waitFor()
    await picker(page).setInputFiles(textFile('secret.txt', 'nobody reads this on the way'))
    await page.getByText('1 of 1 file').waitFor()
    const stored = await testbed.client.get(testbed.locker, 'secret.txt.age')
    const opened = await decryptedDownload(stored, [identityKey([identity])])
    expect(String(Buffer.from(await opened.bytes()))).toBe('nobody reads this on the way')
    for (const secret of ['nobody reads', identity]) expect(sent.join('\n')).not.toContain(secret)
  })

  it('T-09 is shown under its name and runs nothing, however hostile its name and content are', async () => {
    const markup = '<img src=x onerror=alert(1)>.html'
    const html =
      '<!doctype html><script>alert(1)</script><img src="https://elsewhere.example/x.png" onerror="alert(1)">'
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>`
    const odd = { 'invoice\u202efdp.exe': 'x', [`${'very '.repeat(90)}long.txt`]: 'x', 'שלום ‎.png': 'no picture' }
    const { page, problems } = await visitFiles(await newLocker({ [markup]: html, 'picture.svg': svg, ...odd }))
    page.on('dialog', (question) => {
      problems.push(question.message())
      void question.dismiss()
    })
    await nameButton(page, markup).waitFor()
    expect(await page.locator('.files-box .filename').allTextContents()).toContain('invoiceU+202Efdp.exe')
    await expectAccessible(page, 'files-hostile')
    for (const [name, text] of [
      [markup, html],
      ['picture.svg', svg],
    ] as const) {
      await nameButton(page, name).click()
      await dialog(page).locator('pre').waitFor()
      expect(await dialog(page).locator('pre').textContent()).toBe(text)
      expect(await page.locator('dialog img, dialog script, dialog iframe').count()).toBe(0)
      await click(page, 'Close')
    }
    await page.getByRole('row').filter({ hasText: '.png' }).locator('.files-open').click()
    await page.getByText('The browser cannot show this picture.').waitFor()
    await click(page, 'Close')
    await page.getByRole('row').filter({ hasText: 'very long' }).locator('.files-open').click()
    await expectAccessible(page, 'files-hostile-details')
    expectNoErrors(page)
  })
})
