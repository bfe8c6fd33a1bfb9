// @module-tag nightly

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toBase58 } from '@svc/protocol/bytes'
import type { Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, visit } from './visit.ts'

/** The compressed size of a first visit. */
const FIRST_LOAD_BYTES = 40_000

const site = useSite()

const readyWelcome = async (page: Page) => {
  await page.getByText('file proven').waitFor()
  await page.getByText(/^Pay with .*USDC/).waitFor()
}
const pasteKey = async (page: Page, name: string, { keypair } = site) => {
  await click(page, name)
  await page.getByLabel('Paste a key').fill(toBase58(Uint8Array.from(keypair)))
  await click(page, 'Use this key')
}
const READY: [name: string, path: string, ready: (page: Page) => Promise<void>][] = [
  ['welcome', '/', readyWelcome],
  ['api', '/docs', (page) => page.getByRole('heading', { name: 'Quick start' }).waitFor()],
  ['errors', '/errors', (page) => page.getByText('leg_not_in_quote').waitFor()],
  ['error', '/errors/leg_not_in_quote', (page) => page.getByText('What to do').waitFor()],
  [
    'error-unknown',
    '/errors/nonsense',
    (page) => page.getByRole('heading', { level: 1, name: 'No such error code' }).waitFor(),
  ],
  ['not-found', '/nowhere', (page) => page.getByRole('link', { name: 'Go to the first page' }).waitFor()],
  ['operation', '/docs#createFile', (page) => page.getByRole('heading', { name: /Create a file entry/ }).waitFor()],
]

const answerIsInSight = (page: Page) =>
  page.locator('.found').evaluate((answer) => {
    const { top, bottom } = answer.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  })

describe('every page', () => {
  it.each(READY)(
    'T-61 %s is accessible and logs no errors in both colours, on a desktop and on a phone',
    async (name, path, ready) => {
      const { page } = await visit(site, path)
      await ready(page)
      await expectAccessible(page, name)
      expectNoErrors(page, 404, 422) // of unknown addresses and codes
    },
  )
})

describe('the welcome page', () => {
  it('T-61 is small, shows prices and numbers of this gateway, and works with the keyboard alone', async () => {
    const { page, bytes } = await visit(site, '/', { permissions: ['clipboard-read', 'clipboard-write'] })
    await readyWelcome(page)
    expect(await bytes()).toBeLessThan(FIRST_LOAD_BYTES)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(await page.getByLabel('This gateway now').textContent()).toMatch(
      /1\s*locker open\s*1\s*file proven\s*.*(ago|now)/,
    )
    await page.getByRole('spinbutton', { name: 'Units' }).fill('3')
    await page.getByText('3 GiB').first().waitFor()
    expect(await page.getByText('$0.75').count()).toBe(1)
    expect(await page.getByLabel('commands for the shell', { exact: true }).textContent()).toContain(site.url)

    await page.getByRole('link', { name: 'API', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Quick start' }).waitFor()
    expect(page.url()).toBe(`${site.url}/docs`)
    await page.goBack()
    await page.getByRole('heading', { name: 'Storage you can prove.' }).waitFor()
    await page.getByRole('button', { name: 'Copy commands for the shell' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('svc wallet new')
    expectNoErrors(page)
  })

  it('T-61 recognizes what is looked up, and sends only what is public', async () => {
    const { page } = await visit(site, '/')
    await readyWelcome(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const box = page.getByRole('searchbox')
    const find = async (text: string, expected: string | RegExp) => {
      await box.fill(text)
      await box.press('Enter')
      await page.getByRole('status').getByText(expected).waitFor()
    }
    const { receipt_id } = site.locker
    await find(`see ${receipt_id}`, 'This is a receipt id')
    expect(await page.getByRole('link', { name: 'Check it, fact by fact' }).getAttribute('href')).toBe(
      `${site.url}/verify/${receipt_id}`,
    )
    // The answer is below the fold of a small screen, so the page scrolls to it.
    await expect.poll(() => answerIsInSight(page)).toBe(true)
    await find('hello', 'Not recognized')
    await find(toBase58(Uint8Array.from(site.keypair)), 'This is a secret key')
    expect(asked.filter((url) => url.includes('/v1/'))).toEqual([])
    await find(site.anchor.tx, 'This gateway published a statement with this transaction.')
    await find(site.digest, 'This gateway published a statement with this transaction.')
    await find(
      '7'.repeat(64),
      /the gateway does not reveal who stores a file.*if this was one, the gateway has seen it/,
    )
    expect(asked.filter((url) => url.includes('/v1/')).map((url) => url.slice(site.url.length))).toEqual([
      `/v1/anchors/${site.anchor.tx}`,
      `/v1/anchors/${site.digest}`,
      `/v1/anchors/${'7'.repeat(64)}`,
    ])
    expectNoErrors(page, 404) // of the last one
  })

  it('T-61 a bundle that is dropped on any page is checked there, and never leaves the page', async () => {
    const { page } = await visit(site, '/docs')
    await page.getByRole('heading', { name: 'Quick start' }).waitFor()
    const drop = async (name: string, text: string) => {
      const data = await page.evaluateHandle(
        ([name, text]) => {
          const transfer = new DataTransfer()
          transfer.items.add(new File([text], name, { type: 'application/json' }))
          return transfer
        },
        [name, text] as const,
      )
      await page.dispatchEvent('main', 'drop', { dataTransfer: data })
    }
    const asked: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && asked.push(request.url()))
    await drop('image.png', 'not json')
    await page.getByText('image.png is not an evidence bundle: it is not JSON.').waitFor()
    await drop("it's mine.json", site.bundle)
    await page.getByRole('heading', { name: /Nothing failed/ }).waitFor()
    await page.getByText("it's mine.json").waitFor()
    expect(page.url()).toBe(`${site.url}/verify`)
    await drop('other.json', '{"schema":"<img src=x onerror=alert(1)>"}')
    await page.getByRole('heading', { name: 'This bundle cannot be checked' }).waitFor()
    expect(asked).toEqual([])
    expectNoErrors(page)
  })
})

describe('the API page', () => {
  it('VER-22 reports an unknown operation, even if the address is not validly encoded', async () => {
    const { page } = await visit(site, '/docs#%')
    await page.getByText('This API has no operation “%”.').waitFor()
    expectNoErrors(page)
  })

  it('VER-22 sends a public request and shows the 402 first', async () => {
    const { page } = await visit(site, '/docs')
    await page.getByRole('button', { name: 'Ask this gateway now' }).click()
    await page.getByText('402 Payment Required').waitFor()
    await page.getByLabel('The gateway’s answer', { exact: true }).getByText('"x402Version"').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('verify-key')
    await page
      .getByRole('link', { name: /short-url\/verify-key/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Send request' }).click()
    await page.getByText('short_url_token_verification').last().waitFor()
    expectNoErrors(page, 402)
  })

  it('VER-22 T-61 signs with a key file, a pasted key or a throwaway key, which never leaves the page', async () => {
    const { locker_id, receipt_id } = site.locker
    const { page } = await visit(site, `/docs#listFiles?locker_id=${locker_id}&receipt_id=${receipt_id}`)
    const sent: string[] = []
    page.on('request', (request) =>
      sent.push([request.url(), JSON.stringify(request.headers()), request.postData() ?? ''].join('\n')),
    )
    const send = page.getByRole('button', { name: /send/i })
    expect(await send.isDisabled()).toBe(true)
    const keyFile = { name: 'id.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(site.keypair)) }
    await page.getByRole('button', { name: 'Choose a key' }).click()
    await page.getByLabel('Open a key file').setInputFiles({ ...keyFile, buffer: Buffer.from('{"crypto":{}}') })
    await page.getByText('This keystore is encrypted').waitFor()
    await page.getByLabel('Open a key file').setInputFiles(keyFile)
    await page.getByText('Signing as').waitFor()
    await send.click()
    await page.getByText('200 OK').waitFor()
    await page.getByLabel('The gateway’s answer', { exact: true }).getByText('"hello.txt"').waitFor()

    await pasteKey(page, 'Change key')
    const signed = () => sent.filter((request) => request.includes('x-svc-signature')).length
    await send.click()
    await expect.poll(signed).toBe(2)
    await page.getByText('200 OK').waitFor()
    await page.getByRole('button', { name: 'Change key' }).click()
    await page.getByRole('button', { name: 'Create a throwaway key' }).click()
    await send.click()
    await page.getByText('SIGNATURE_INVALID').last().waitFor()
    await expect.poll(signed).toBe(3)
    const secrets = [JSON.stringify(site.keypair).slice(1, 60), toBase58(Uint8Array.from(site.keypair))]
    for (const secret of secrets) expect(sent.join('\n')).not.toContain(secret)
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    )
    expect(stored).toBe('[{},{},""]')
    expectNoErrors(page, 403)
  })
})

describe('curl commands', () => {
  /** A separate site, because the commands change its data. */
  const changed = useSite()

  it('VER-22 every curl command works as pasted', async () => {
    const { locker_id, receipt_id } = changed.locker
    const { page } = await visit(changed, '/docs', { permissions: ['clipboard-read', 'clipboard-write'] })
    await pasteKey(page, 'Choose a key', changed)
    const ids = await page.locator('.index a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    expect(ids.length).toBeGreaterThan(40)
    const folder = mkdtempSync(join(tmpdir(), 'svc-curl-'))
    const refused = []
    for (const id of ids) {
      const command = await curlCommand(page, id as string, `?locker_id=${locker_id}&receipt_id=${receipt_id}`)
      const { stdout } = await promisify(execFile)('sh', ['-c', `echo hello >FILE; ${command} -s -w ' %{http_code}'`], {
        cwd: folder,
      })
      if (FORM_ERRORS.test(stdout) && !OF_THIS_GATEWAY.test(stdout)) refused.push([command, stdout])
    }
    rmSync(folder, { recursive: true })
    expect(refused).toEqual([])
  })
})

/** The commands that users copy. It runs entirely in the page, because there are a hundred operations. */
function curlCommand(page: Page, id: string, values: string): Promise<string> {
  return page.evaluate(
    async ([id, values]) => {
      const changed = () => new Promise(requestAnimationFrame)
      location.hash = id + values
      while (!document.querySelector(`.side-list [href="${id}"][aria-current]`)) await changed()
      await navigator.clipboard.writeText('')
      document.querySelector<HTMLElement>('[aria-label="Copy curl command"]')!.click()
      let command = ''
      while (command === '') {
        await changed()
        command = await navigator.clipboard.readText()
      }
      return command
    },
    [id, values] as const,
  )
}

/** Errors of the request itself. */
const FORM_ERRORS =
  /^\{"error":"(validation_error|malformed_request|method_not_allowed|unsupported_media_type|not_found|leg_not_in_quote|MISSING_ENVELOPE|SIGNATURE_INVALID|\w+_MISMATCH|MISSING_OPS)"/
/** Errors of this gateway, which cannot send payments, has one chain, and has no network to fetch from. */
const OF_THIS_GATEWAY =
  /does not send signed payments|not an asset of this gateway|host of the source cannot be resolved/

describe('a gateway under a prefix', () => {
  it('T-61 has the same pages, and sends no request outside of the prefix', async () => {
    const { page } = await visit({ ...site, url: site.prefixedUrl }, '/')
    const paths = new Set<string>()
    page.on('request', (request) => paths.add(new URL(request.url()).pathname))
    await readyWelcome(page)
    await page.getByRole('link', { name: 'API', exact: true }).click()
    await page.getByRole('heading', { name: 'Quick start' }).waitFor()
    expect(page.url()).toBe(`${site.prefixedUrl}/docs`)
    await page.goto(`${site.prefixedUrl}/docs#health`)
    await page.getByRole('button', { name: 'Send request' }).click()
    await page.getByText('200 OK').waitFor()
    expect([...paths].filter((path) => !path.startsWith('/svc/'))).toEqual([])
    expectNoErrors(page)
  })
})
