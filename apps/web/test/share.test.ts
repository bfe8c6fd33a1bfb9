// @module-tag nightly

import { readFileSync } from 'node:fs'
import { createShare, endShare } from '@svc/api/shares'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { toBase58 } from '@svc/protocol/bytes'
import { createClient } from '@svc/sdk'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import type { Page } from 'playwright'
import { beforeAll, expect, it } from 'vitest'
import { useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, fixture, useKey, visit } from './visit.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
/** The compressed size of a first visit; viewers and the verifier are loaded later. */
const FIRST_LOAD_BYTES = 60_000
const HOSTILE = 'sub/<img src=x onerror=window.ran=true>\u202egnp.txt'

const site = useSite()
let client: ReturnType<typeof createClient>
let locker: { locker_id: string; receipt_id: string }

beforeAll(async () => {
  const signer = signerFromSolanaKeypair(site.keypair)
  client = createClient({ baseUrl: site.url, signer, onWarning: () => {} })
  const { locker_id, receipt_id } = await seedLocker(site.gateway.context, { owner: signer.address })
  locker = { locker_id, receipt_id }
  const files: [string, Uint8Array, string][] = [
    ['beside.txt', utf8('not shared'), 'text/plain'],
    ['trip/harbour.png', fixture('harbour.png'), 'image/png'],
    ['trip/report.pdf', fixture('report.pdf'), 'application/pdf'],
    ['trip/drawing.svg', fixture('drawing.svg'), 'image/svg+xml'],
    ['trip/page.html', fixture('page.html'), 'text/html'],
    ['trip/secret.txt.age', utf8('age-encryption.org/v1\n-> X25519 abc\n'), 'application/octet-stream'],
    ['trip/empty.txt', new Uint8Array(), 'text/plain'],
    [`trip/${HOSTILE}`, utf8('content of a hostile name'), 'text/plain'],
  ]
  for (const [name, bytes, contentType] of files) await client.put(locker, name, bytes, { contentType })
  await client.attest(locker)
})

async function share(path: string, expires_in_hours: number | null = 1): Promise<{ id: string; path: string }> {
  const params = { locker_id: locker.locker_id }
  const { body } = await client.call(createShare, { params, body: { path, expires_in_hours, label: 'for Ada' } })
  return { id: body.id, path: `/s/${body.id}` }
}

const end = (share_id: string) => client.call(endShare, { params: { locker_id: locker.locker_id, share_id } })
const inStatement = (page: Page) => page.getByText('In the newest statement').waitFor()
const verdict = (page: Page) => page.locator('.verdict')

/** Visits a share, and records everything that the page receives and shows. */
async function visitShare(path: string) {
  const received: string[] = []
  const visited = await visit(site, path, {}, async (page) => {
    page.on('request', (request) => received.push(request.url()))
    page.on('response', async (response) => {
      if (/json|html/.test(response.headers()['content-type'] ?? ''))
        received.push(await response.text().catch(() => ''))
    })
  })
  const expectNoLocker = async () => {
    const all = [...received, await visited.page.content()].join('\n')
    for (const secret of [locker.receipt_id, locker.locker_id, 'for Ada', 'beside.txt'])
      expect(all).not.toContain(secret)
  }
  return { ...visited, expectNoLocker }
}

async function saved(page: Page, press: () => Promise<unknown>) {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) }
}

it('ADD-61 a shared file is shown with its facts, and downloaded unchanged', async () => {
  const { path } = await share('trip/harbour.png')
  const { page, bytes, expectNoLocker } = await visitShare(path)
  await page.getByRole('heading', { level: 1, name: 'harbour.png' }).waitFor()
  expect(await bytes()).toBeLessThan(FIRST_LOAD_BYTES)
  await page.getByText(/KiB · image\/png · added /).waitFor()
  await page.getByText(/^This share works until /).waitFor()
  await page.getByRole('img', { name: 'Picture: harbour.png' }).waitFor()
  await page.getByText('Matches what was received').waitFor()
  await inStatement(page)
  await expectAccessible(page, 'share-file')
  const link = page.getByRole('link', { name: 'Download', exact: true })
  const file = await saved(page, () => link.click())
  expect([file.name, file.bytes.equals(fixture('harbour.png'))]).toEqual(['harbour.png', true])
  await expectNoLocker()
  expectNoErrors(page)
})

it('ADD-61 its proof is saved, and verified in the browser against the bytes', async () => {
  const { path } = await share('trip/harbour.png', null)
  const { page, expectNoLocker } = await visitShare(path)
  await page.getByText('This share works until its sender ends it.').waitFor()
  const proof = await saved(page, () => click(page, 'Download the proof'))
  expect([proof.name, proof.bytes.includes('trip/harbour.png')]).toEqual(['harbour.png.proof.json', true])
  await click(page, 'Verify it here')
  await verdict(page)
    .getByRole('heading', { name: /^Nothing failed, but \d+ things were not checked$/ })
    .waitFor()
  const passed = verdict(page).getByRole('list').first()
  for (const fact of [
    'Your files are the listed ones',
    'The shown files are part of the statement',
    'The signature is valid',
  ])
    await passed.getByText(fact).waitFor()
  await verdict(page).getByText('Without a key that you trust').waitFor()
  await expectAccessible(page, 'share-verified')
  await expectNoLocker()
  // The verify page takes over the proof. It is another document, so the file is not sent.
  await click(page, 'Check the rest on the verify page')
  await page.getByText('harbour.png.proof.json').waitFor()
  await page.getByLabel('Public keys').fill(await (await fetch(`${site.url}/v1/keys`)).text())
  await page.getByLabel('Remember in this browser').check()
  await page.getByRole('button', { name: 'Trust these keys' }).click()
  await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' }) // passed facts are folded
  // A remembered key counts on the page of the share.
  await page.goto(site.url + path)
  await click(page, 'Verify it here')
  await verdict(page).getByRole('list').first().getByText('Signed by a key that you trust').waitFor()
  expectNoErrors(page)
})

it('T-09 ADD-61 bytes that differ from the statement fail the check, as does the proof of another file', async () => {
  const { id, path } = await share('beside.txt')
  const { page } = await visit(site, path, undefined, (page) =>
    page.route(`**/v1/shares/${id}/f/**`, async (route) =>
      route.fulfill({ response: await route.fetch(), body: 'not sharEd' }),
    ),
  )
  await page.getByText('Does not match').waitFor()
  await click(page, 'Verify it here')
  await verdict(page).getByRole('heading', { name: 'Do not rely on this: 1 check failed' }).waitFor()
  await expectAccessible(page, 'share-differs')
  const other = await (await fetch(`${site.url}/v1/shares/${(await share('trip/')).id}/proof/page.html`)).text()
  // The worker of the page requests the proof.
  await page.context().route('**/proof/**', (route) => route.fulfill({ body: other, contentType: 'application/json' }))
  await click(page, 'Verify again')
  await verdict(page).getByRole('heading', { name: 'the proof is about another file' }).waitFor()
  await page.context().unrouteAll()
})

it('ADD-61 a shared folder lists its files, and opens, previews and downloads each', async () => {
  const { path } = await share('trip/')
  const { page, expectNoLocker } = await visitShare(path)
  await page.getByRole('heading', { level: 1, name: 'trip' }).waitFor()
  await page.getByText('7 files').waitFor()
  await page.getByText('The gateway reports that the newest statement includes all of these files.').waitFor()
  await expectAccessible(page, 'share-folder')
  const list = page.getByRole('list', { name: 'Files of this folder' })
  const pdf = await saved(page, () => list.getByRole('link', { name: 'Download report.pdf' }).click())
  expect([pdf.name, pdf.bytes.equals(fixture('report.pdf'))]).toEqual(['report.pdf', true])
  // With the keyboard alone.
  await list.getByRole('link', { name: 'report.pdf', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Twelve boats came in on Monday.').waitFor({ state: 'attached' })
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('report.pdf')
  await inStatement(page)
  await expectAccessible(page, 'share-folder-file')
  await page.goBack()
  await list.getByRole('link', { name: 'secret.txt.age', exact: true }).click()
  await page.getByText('age --decrypt').waitFor()
  await page.getByRole('link', { name: 'All files of the folder' }).click()
  await list.getByRole('link', { name: 'empty.txt', exact: true }).click()
  await page.getByText('This file is empty').waitFor()
  await page.reload()
  await page.getByText('This file is empty').waitFor()
  await expectNoLocker()
  expectNoErrors(page, 416) // An empty file has no range.
})

it('ADD-61 a folder with many files is listed in pages', async () => {
  const names = Array.from({ length: 201 }, (_, i) => `many/${String(i).padStart(3, '0')}.txt`)
  for (const name of names) await client.put(locker, name, utf8(name))
  const { page } = await visit(site, (await share('many/')).path)
  await page.getByText('The first 200 files').waitFor()
  await page.getByText('Some of these files are newer than the newest statement').waitFor()
  await click(page, 'Show more')
  await page.getByText('201 files').waitFor()
  await page.getByRole('link', { name: '200.txt', exact: true }).click()
  await page.getByText('Not checked yet').waitFor()
  await click(page, 'Verify it here')
  await page.getByRole('heading', { name: 'There is no proof of this file' }).waitFor()
  expectNoErrors(page, 404)
})

it('T-09 ADD-61 a hostile name or content is shown as text, runs nothing and requests nothing', async () => {
  const { path } = await share('trip/')
  const asked: string[] = []
  const { page } = await visit(site, path, undefined, async (page) => {
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    page.on('dialog', () => asked.push('a dialog'))
  })
  const list = page.getByRole('list', { name: 'Files of this folder' })
  for (const [name, ready] of [
    ['U+202Egnp.txt', page.getByText('content of a hostile name')],
    ['page.html', page.locator('.hljs-tag').first()],
    ['drawing.svg', page.getByRole('img', { name: 'Picture: drawing.svg' })],
  ] as const) {
    await list.getByRole('link').filter({ hasText: name }).first().click()
    await ready.waitFor()
    await page.waitForLoadState('networkidle')
    await page.getByRole('link', { name: 'All files of the folder' }).click()
  }
  expect(asked.filter((url) => !/^\/(assets\/|s\/|v1\/shares\/|\.well-known\/svc\.json)/.test(url))).toEqual([])
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  expect(await page.locator('iframe, object, embed, script:not([src])').count()).toBe(0)
  expectNoErrors(page)
})

it('T-61 ADD-61 the page sends no referrer, is not indexed, and loads nothing from other hosts', async () => {
  const { path } = await share('trip/')
  const { headers } = await fetch(site.url + path, { headers: { accept: 'text/html' } })
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('x-robots-tag')).toBe('noindex, nofollow')
  const policy = headers.get('content-security-policy')!
  for (const directive of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "img-src 'self' blob:"])
    expect(policy.split('; ')).toContain(directive)
})

it('ADD-61 a share that has ended, is unknown or taken down, or lost its file, names the next step', async () => {
  const { id, path } = await share('trip/report.pdf')
  const { page } = await visit(site, path)
  await page.getByText('Twelve boats came in on Monday.').waitFor({ state: 'attached' })
  await end(id)
  await page.reload()
  const heading = (name: string) => page.getByRole('heading', { name }).waitFor()
  await heading('This share has ended, or its address is wrong')
  await page.getByText('ask its sender for a new one').waitFor()
  await expectAccessible(page, 'share-ended')
  await page.goto(`${site.url}/s/AAAAAAAAAAAAAAAAAAAAAA`)
  await heading('This share has ended, or its address is wrong')

  await client.put(locker, 'gone.txt', utf8('gone'))
  const gone = await share('gone.txt')
  await client.remove(locker, 'gone.txt')
  await page.goto(site.url + gone.path)
  await heading('The file is no longer here')
  await expectAccessible(page, 'share-gone')

  await page.route('**/v1/shares/**', (route) => route.fulfill({ status: 451, json: { error: 'LOCKER_TAKEN_DOWN' } }))
  await page.reload()
  await heading('This content was taken down')
  await expectAccessible(page, 'share-taken-down')
  await page.unroute('**/v1/shares/**')
  await page.route('**/v1/shares/**', (route) => route.abort())
  await page.reload()
  await heading('The gateway did not answer')
  await page.unroute('**/v1/shares/**')
  await click(page, 'Try again')
  await heading('The file is no longer here')
})

it('ADD-61 ADD-62 the owner shares a file on the locker page; the recipient checks it until the owner ends the share', async () => {
  const { page: own } = await visit(site, `/locker/${locker.locker_id}#files/trip`, {})
  await useKey(own, toBase58(Uint8Array.from(site.keypair)))
  await own.getByRole('row').getByRole('button', { name: 'page.html', exact: true }).click()
  await click(own, 'Share')
  await own.getByLabel('Label').fill('for Grace')
  await click(own, 'Create a share')
  const url = (await own.getByRole('dialog').locator('code').textContent())!
  await click(own, 'Close')

  const { page, expectNoLocker } = await visitShare(url.slice(site.url.length))
  await page.locator('.hljs-tag').first().waitFor()
  const file = await saved(page, () => page.getByRole('link', { name: 'Download', exact: true }).click())
  expect(file.bytes.equals(fixture('page.html'))).toBe(true)
  await click(page, 'Verify it here')
  await verdict(page).getByText('Your files are the listed ones').waitFor()
  await expectNoLocker()
  expectNoErrors(page)

  await own.getByRole('tab', { name: 'Access' }).click()
  const entry = own.getByRole('listitem').filter({ hasText: 'for Grace' })
  await entry.getByRole('button', { name: 'End: Share trip/page.html' }).click()
  await own.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await expect.poll(() => entry.count()).toBe(0)
  await page.reload()
  await page.getByRole('heading', { name: 'This share has ended, or its address is wrong' }).waitFor()
  expectNoErrors(own)
})

it('T-61 ADD-61 works under a prefix', async () => {
  const { path } = await share('trip/')
  const { page } = await visit({ ...site, url: site.prefixedUrl }, path)
  const paths: string[] = []
  page.on('request', (request) => paths.push(new URL(request.url()).pathname))
  await page.getByRole('link', { name: 'page.html', exact: true }).click()
  await page.locator('.hljs-tag').first().waitFor()
  await click(page, 'Verify it here')
  await verdict(page).getByRole('heading', { name: 'Nothing failed' }).waitFor()
  expect(paths.filter((name) => !name.startsWith('/svc/'))).toEqual([])
})
