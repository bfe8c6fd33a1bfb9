// @module-tag nightly

import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { createClient } from '@svc/sdk'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import type { Page, Route } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { useSite } from './site.ts'
import { expectAccessible, expectNoErrors, fixture, visit } from './visit.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const LONG = { timeout: 60_000 }
const LINE = 'The quick brown fox jumps over the lazy dog and counts to sixty.\n'
const LONG_TEXT = LINE.repeat(20_000)
const CODE = `// Adds numbers.\nexport function sum(values: number[]): number {\n  return values.reduce((a, b) => a + b, 0)\n}\n`
/** This looks like a picture to users, and like markup to careless pages. */
const HOSTILE = ['reports/<img src=x onerror=window.ran=true>.txt', 'invoice_\u202egnp.txt', "it's #1?%2F & 100%.txt"]

const site = useSite()
let client: ReturnType<typeof createClient>

beforeAll(async () => {
  client = createClient({ baseUrl: site.url, signer: signerFromSolanaKeypair(site.keypair), onWarning: () => {} })
  const files: [string, Uint8Array, string][] = [
    ['pictures/harbour.png', fixture('harbour.png'), 'image/png'],
    ['drawing.svg', fixture('drawing.svg'), 'image/svg+xml'],
    ['page.html', fixture('page.html'), 'text/html'],
    ['notes.md', fixture('notes.md'), 'text/markdown'],
    ['report.pdf', fixture('report.pdf'), 'application/pdf'],
    ['tone.wav', fixture('tone.wav'), 'audio/wav'],
    ['film.webm', fixture('film.webm'), 'video/webm'],
    ['src/sum.ts', utf8(CODE), 'application/octet-stream'],
    ['long.log', utf8(LONG_TEXT), 'text/plain'],
    ['data.bin', Uint8Array.from({ length: 5000 }, (_, i) => (i * 7) % 256), 'application/octet-stream'],
    ['empty.txt', new Uint8Array(), 'text/plain'],
    ['secret.pdf.age', utf8('age-encryption.org/v1\n-> X25519 abc\n'), 'application/octet-stream'],
    ['not-a.png', utf8('only words'), 'image/png'],
    ['run.js', utf8('globalThis.ran = true; globalThis.postMessage?.(1)'), 'text/javascript'],
    ['run.css', utf8('body { display: none }'), 'text/css'],
    ...HOSTILE.map((name) => [name, utf8(`content of ${name}`), 'text/plain'] as [string, Uint8Array, string]),
  ]
  for (const [name, bytes, contentType] of files) await client.put(site.locker, name, bytes, { contentType })
  await client.attest(site.locker)
  await client.put(site.locker, 'late.txt', utf8('late'), { contentType: 'text/plain' })
})

const encoded = (filename: string) => filename.split('/').map(encodeURIComponent).join('/')
const viewPath = (filename: string, id = site.locker.receipt_id) => `/view/${id}/${encoded(filename)}`
const publicPath = (filename: string) => `/v1/r/${site.locker.receipt_id}/f/${encoded(filename)}`
const compared = (page: Page) => page.getByText('Matches what was received').waitFor()
const proven = (page: Page) => page.getByText('It is in a statement that was published on chain').waitFor()
const content = (page: Page) => page.getByLabel('Content of the file', { exact: true })

const KINDS: [name: string, filename: string, ready: (page: Page) => Promise<unknown>][] = [
  ['image', 'pictures/harbour.png', (page) => page.getByRole('button', { name: 'Actual size' }).waitFor()],
  ['svg', 'drawing.svg', (page) => page.getByRole('img', { name: 'Picture: drawing.svg' }).waitFor()],
  ['html', 'page.html', (page) => page.locator('.hljs-tag').first().waitFor()],
  ['markdown', 'notes.md', (page) => page.getByRole('heading', { name: 'Notes on the harbour' }).waitFor()],
  ['pdf', 'report.pdf', (page) => page.getByText('Twelve boats came in on Monday.').waitFor({ state: 'attached' })],
  ['audio', 'tone.wav', (page) => playable(page, 'audio')],
  ['video', 'film.webm', (page) => playable(page, 'video')],
  ['code', 'src/sum.ts', (page) => page.locator('.hljs-keyword').first().waitFor()],
  ['binary', 'data.bin', (page) => page.getByText(/00000010 {2}70 77 7e 85 .* pw~·/).waitFor()],
  ['empty', 'empty.txt', (page) => page.getByText('This file is empty').waitFor()],
  ['encrypted', 'secret.pdf.age', (page) => page.getByText('svc get secret.pdf.age').waitFor()],
  ['disguised', 'not-a.png', (page) => page.getByText('only words').waitFor()],
]

const playable = (page: Page, element: 'audio' | 'video') =>
  // The test polls, because scripts cannot run there to wait in the page.
  expect
    .poll(() => page.evaluate((name) => document.querySelector<HTMLMediaElement>(name)?.readyState, element), LONG)
    .toBeGreaterThanOrEqual(1)

describe('the viewer', () => {
  it.each(KINDS)('ADD-19 T-61 shows %s, accessibly and without errors', async (name, filename, ready) => {
    const { page } = await visit(site, viewPath(filename))
    await ready(page)
    await proven(page)
    await expectAccessible(page, `view-${name}`)
    expectNoErrors(page, ...(name === 'empty' ? [416] : [])) // An empty file has no range.
  })

  it.each(['page.html', 'drawing.svg', 'notes.md', 'report.pdf'])(
    'T-09 %s runs nothing and requests nothing',
    async (filename) => {
      const asked: string[] = []
      const { page } = await visit(site, viewPath(filename), undefined, async (page) => {
        page.on('request', (request) => asked.push(request.url().slice(site.url.length)))
        page.on('dialog', () => asked.push('a dialog'))
      })
      await compared(page)
      await KINDS.find(([, name]) => name === filename)![2](page)
      for (const tab of await page.getByRole('tab').all()) await tab.click()
      await page.waitForLoadState('networkidle')
      const own = [viewPath(filename), publicPath(filename)]
      const isExpected = (url: string) =>
        own.includes(url) || /^\/(assets\/|\.well-known\/svc\.json|v1\/storage\/merkle-proof\?)/.test(url)
      expect(asked.filter((url) => !isExpected(url))).toEqual([])
      expect(await page.evaluate(() => 'ran' in window)).toBe(false)
      expect(await page.locator('iframe, object, embed, script:not([src])').count()).toBe(0)
      expect(await page.locator('main [href^="javascript:"], main [href^="data:"]').count()).toBe(0)
      expectNoErrors(page)
      // The same holds at its own address. The browser's PDF viewer, which shows a PDF file there, cannot be observed.
      const alone = await page.context().request.get(site.url + publicPath(filename))
      expect(alone.headers()['content-security-policy']).toContain('sandbox')
      if (filename.endsWith('.pdf')) return
      // Requests that a policy forbids are announced, too, but never reach this route.
      const sent: string[] = []
      await page.route(/^https?:/, (route) => {
        sent.push(route.request().url())
        return route.continue()
      })
      await page.goto(site.url + publicPath(filename)).catch(() => {})
      await page.waitForLoadState('networkidle')
      expect(sent).toEqual([site.url + publicPath(filename)])
      expect(await page.title()).not.toBe('ran')
    },
  )

  it('T-09 a stored script or style does not load into our pages', async () => {
    const { page } = await visit(site, '/')
    const answers: [string, number][] = []
    page.on('response', (response) => {
      if (response.url().includes('/f/')) answers.push([response.url().split('/f/')[1]!, response.status()])
    })
    const load = (tag: string, filename: string) =>
      page.evaluate(
        ([tag, url]) =>
          new Promise<string>((resolve) => {
            const element = document.createElement(tag as 'link' | 'img')
            element.onload = () => resolve('loaded')
            element.onerror = () => resolve('refused')
            Object.assign(element, tag === 'link' ? { rel: 'stylesheet', href: url } : { src: url })
            document.head.append(element)
          }),
        [tag, site.url + publicPath(filename)],
      )
    expect(await load('link', 'run.css')).toBe('refused')
    expect(await load('img', 'pictures/harbour.png')).toBe('loaded')
    // This is text, because the test bundler would rewrite an import.
    const script = JSON.stringify(site.url + publicPath('run.js'))
    expect(await page.evaluate(`import(${script}).then(String, () => 'refused')`)).toBe('refused')
    expect(await page.evaluate(() => 'ran' in window)).toBe(false)
    // Chromium may hide the refusal of a style, because its type is not that of a style.
    expect(answers.filter(([filename]) => filename !== 'run.css')).toEqual([
      ['pictures/harbour.png', 200],
      ['run.js', 403],
    ])
    expect(answers).not.toContainEqual(['run.css', 200])
  })

  it.each(HOSTILE)('T-09 shows the hostile filename %j as plain text, and finds its file', async (filename) => {
    const { page } = await visit(site, viewPath(filename))
    await compared(page)
    expect(await content(page).textContent()).toContain(`content of ${filename}`)
    const heading = await page.getByRole('heading', { level: 1 }).textContent()
    expect(heading).toBe(filename.slice(filename.lastIndexOf('/') + 1).replace('\u202e', 'U+202E'))
    expect(await page.title()).not.toContain('\u202e')
    expect(await page.getByText('change the direction of writing').count()).toBe(filename.includes('\u202e') ? 1 : 0)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ])
    expect(download.url()).toBe(site.url + publicPath(filename))
    expect(await page.evaluate(() => 'ran' in window)).toBe(false)
    await expectAccessible(page, `view-name-${HOSTILE.indexOf(filename)}`)
    expectNoErrors(page)
  })

  it('ADD-19 reads a long text in parts, continues after a lost connection, and checks its hash on request', async () => {
    const ranges: string[] = []
    const { page } = await visit(site, viewPath('long.log'), undefined, async (page) => {
      page.on('request', (request) => {
        const { range } = request.headers()
        if (range) ranges.push(range)
      })
    })
    await page.getByText('The first 256 KiB of 1.2 MiB are shown.').waitFor()
    expect((await content(page).locator('pre').last().textContent())?.length).toBe(256 * 1024)
    await expectAccessible(page, 'view-part')
    expect(ranges).toEqual(['bytes=0-262143'])
    await page.route('**/f/long.log', (route) => route.abort('connectionreset'))
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('The connection was lost').waitFor()
    await expectAccessible(page, 'view-lost')
    await page.unroute('**/f/long.log')
    await page.getByRole('button', { name: 'Compare now' }).click()
    await compared(page)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('of 1.2 MiB are shown').waitFor({ state: 'detached' })
    expect(await content(page).locator('pre').last().textContent()).toBe(LONG_TEXT)
    expect(new Set(ranges)).toEqual(new Set(['bytes=0-262143', `bytes=262144-${LONG_TEXT.length - 1}`]))
  })

  it('ADD-19 turns the pages of a document and zooms', async () => {
    const { page } = await visit(site, viewPath('report.pdf'))
    await page.getByText('Twelve boats came in on Monday.').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('There is nothing more to say.').waitFor({ state: 'attached' })
    const width = () => page.locator('.pdf-sheet canvas').evaluate((canvas) => canvas.clientWidth)
    const before = await width()
    await page.getByRole('button', { name: 'Larger' }).click()
    await page.getByText('125%').waitFor()
    await expect.poll(width, LONG).toBeGreaterThan(before)
    await page.getByRole('spinbutton', { name: 'Page' }).fill('1')
    await page.keyboard.press('Enter')
    await page.getByText('Twelve boats came in on Monday.').waitFor({ state: 'attached' })
    expectNoErrors(page)
  })

  it("ADD-19 shows the gateway's claim that a file is proven, and where to check it", async () => {
    const { page } = await visit(site, viewPath('hello.txt'))
    await proven(page)
    const link = page.getByRole('link', { name: 'Verify this receipt' })
    expect(await link.getAttribute('href')).toBe(`${site.url}/verify/${site.locker.receipt_id}`)
    await page.goto(site.url + viewPath('late.txt'))
    await page.getByText('Not proven yet').waitFor()
    await expectAccessible(page, 'view-unproven')
  })

  it('T-09 reports bytes that do not match the recorded hash', async () => {
    const { page } = await visit(site, viewPath('hello.txt'), undefined, (page) =>
      page.route('**/f/hello.txt', async (route) => route.fulfill({ response: await route.fetch(), body: 'hellO' })),
    )
    await page.getByText('Does not match').waitFor()
    await page.getByText('Another version is proven').waitFor()
    await expectAccessible(page, 'view-differs')
  })

  it.each(['tone.wav', 'film.webm'])('ADD-19 %s also plays at its own address', async (filename) => {
    const { page, problems } = await visit(site, publicPath(filename))
    await playable(page, 'video')
    expect(problems).toEqual([])
  })
})

describe('a file that cannot be shown', () => {
  const refused = (status: number, error: string) => (route: Route) => route.fulfill({ status, json: { error } })

  it.each<[name: string, title: string, answer: (route: Route) => Promise<void>]>([
    ['missing', 'File not found', (route) => route.continue()],
    ['taken-down', 'This file was taken down', refused(451, 'LOCKER_TAKEN_DOWN')],
    ['frozen', 'This locker is frozen', refused(423, 'LOCKER_FROZEN')],
    ['offline', 'The gateway did not answer', (route) => route.abort()],
  ])('ADD-19 explains why it cannot be shown (%s)', async (name, title, answer) => {
    const { page } = await visit(site, viewPath('missing.txt'), undefined, (page) => page.route('**/v1/r/**', answer))
    await page.getByText(title).waitFor()
    await expectAccessible(page, `view-${name}`)
  })

  it('ADD-19 T-49 a link that the owner changed or switched off names who can help', async () => {
    const { address } = signerFromSolanaKeypair(site.keypair)
    const { locker_id, receipt_id } = await seedLocker(site.gateway.context, { owner: address })
    const locker = { locker_id, receipt_id }
    await client.put(locker, 'hello.txt', utf8('hello'))
    const { id } = await client.changePublicLink(locker, 'rotate')
    const { page } = await visit(site, viewPath('hello.txt', id as string))
    await page.getByText('Not shown with this link').waitFor()
    await compared(page)
    expect(await page.getByRole('link', { name: 'Verify this receipt' }).count()).toBe(0)
    await client.changePublicLink(locker, 'close')
    await page.reload()
    await page.getByText('This link does not work').waitFor()
    expect(await page.getByRole('link', { name: 'Is this your locker?' }).getAttribute('href')).toBe(
      `${site.url}/locker`,
    )
    await expectAccessible(page, 'view-off')
  })
})
