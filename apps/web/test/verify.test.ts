// @module-tag nightly

import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { redactBundle } from '@svc/verifier/redact-bundle'
import { bundleOf, listedFiles, SIGNER } from '@svc/verifier/test/bundles'
import type { Page } from 'playwright'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useFolder, useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, visit } from './visit.ts'

const site = useSite({ landing: 'at once' })
const folder = useFolder()

const file = (name: string, text: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
const choose = (page: Page, text: string) => page.getByLabel('Choose a bundle').setInputFiles(file('bundle.json', text))
const chooseFiles = (page: Page, files: Record<string, string>) =>
  page
    .getByLabel('Choose files', { exact: true })
    .setInputFiles(Object.entries(files).map(([name, text]) => file(name, text)))
const askNode = async (page: Page, url: string) => {
  await page.getByLabel('Address of a Solana node').fill(url)
  await click(page, 'Ask this node')
}
/** A folder with these files. */
function folderOf(name: string, files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name, path)), { recursive: true })
    writeFileSync(join(folder, name, path), text)
  }
  return join(folder, name)
}
/** A server that gives this answer until the test ends. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
/** Drops a file on an element, as from the desktop. */
const dropOn = (page: Page, selector: string, name: string, text: string) =>
  page.locator(selector).evaluate(
    (element, [name, text]) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([text], name))
      element.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    },
    [name, text] as const,
  )
const verdict = (page: Page, text: string | RegExp) => page.getByRole('heading', { level: 2, name: text }).waitFor()
const fact = (page: Page, id: string) => page.locator(`details#${id} summary .status`).textContent()
const pinKeys = async (page: Page, text: string) => {
  await page.getByLabel('Public keys').fill(text)
  await click(page, 'Trust these keys')
}
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const ofTexts = (files: Record<string, string>) =>
  bundleOf(
    Object.entries(files).map(([filename, text]) => ({
      filename,
      size_bytes: Buffer.byteLength(text),
      content_hash: sha256(text),
    })),
  )
/** How much of the page has moved since it was opened, as browsers measure it. */
const layoutShift = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) =>
          resolve(list.getEntries().reduce((sum, entry) => sum + (entry as unknown as { value: number }).value, 0)),
        )
        observer.observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve(0), 500)
      }),
  )
/** The key that signed the bundles in `vectors`. */
const VECTORS_KEY = '3b96e8a182bab9c6691d0b79b7c5399340562ef5a632956abd1277cc144acd6e'
const gatewayKeys = async () => (await fetch(`${site.url}/v1/keys`)).text()

describe('the verify page', () => {
  it('T-61 T-38 checks a receipt of the gateway: grey until keys, files and a node are given, then green', async () => {
    const { page, origins, problems } = await visit(site, `/verify/${site.locker.receipt_id}`)
    await verdict(page, /Nothing failed, but \d+ things were not checked/)
    await page.getByText('Without a key that you trust, anyone could have made this bundle.').waitFor()
    for (const id of ['merkle_root_matches', 'signature_valid', 'receipt_signature_valid'])
      expect(await fact(page, id)).toBe('passed')
    for (const id of ['key_pinned', 'files_match', 'anchor_tx_succeeded']) {
      expect(await fact(page, id)).toBe('not checked')
      expect(await page.locator(`#${id} .status-good`).count()).toBe(0)
    }
    await expectAccessible(page, 'verify-open')
    await pinKeys(page, 'ed25519:0123456789abcdef')
    await page.getByText(/is a key id, which is too short to pin/).waitFor()
    await pinKeys(page, await gatewayKeys())
    await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
    expect(await fact(page, 'receipt_is_of_bundle')).toBe('passed')
    await chooseFiles(page, { 'hello.txt': 'hello' })
    await page.locator('#files_match.fact-passed').waitFor({ state: 'attached' })
    await askNode(page, 'http://example.com')
    await page.getByText('An address begins with https://').waitFor()
    expectNoErrors(page)
    await askNode(page, site.chains.primary.url)
    await verdict(page, /All \d+ checks passed/)
    expect(origins).toEqual(new Set([site.chains.primary.url, site.url].map((url) => new URL(url).origin)))
    await page.getByText('All checks', { exact: true }).click()
    await page.locator('#anchor_payload_matches summary').click()
    await page.locator('#anchor_payload_matches').getByText('What it does not prove').waitFor()
    await expectAccessible(page, 'verify-passed')
    // The printed verdict has its facts, and no controls.
    await page.getByText('All checks', { exact: true }).click()
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await verdict(page, /All \d+ checks passed/)
    await page.locator('#anchor_payload_matches').waitFor()
    await page.getByText(/^Checked in a browser and printed at 20/).waitFor()
    for (const name of ['Trust these keys', 'Ask this node', 'Print', 'Home'])
      expect(await page.getByText(name, { exact: true }).isVisible()).toBe(false)
    await page.emulateMedia({ media: 'screen' })
    // A link of the verdict opens the folded fact that it names.
    await page.evaluate(() => {
      location.hash = '#signature_valid'
    })
    await page.locator('#signature_valid').getByText('What it does not prove').waitFor()
    expect(problems).toEqual([])
  })

  it('T-61 remembers keys in this browser only on request, and forgets them', async () => {
    const { page } = await visit(site, `/verify/${site.locker.receipt_id}`)
    await page.getByLabel('Open a key file').setInputFiles(file('keys.json', await gatewayKeys()))
    await page.getByLabel('Remember in this browser').check()
    await click(page, 'Trust these keys')
    await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
    await page.reload()
    await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
    await click(page, 'Remove keys.json')
    await page.locator('#key_pinned.fact-not_checked').waitFor({ state: 'attached' })
    expect(await page.evaluate(() => localStorage.getItem('svc-trusted-keys'))).toBe(null)
  })

  it('DSSE-09 T-61 saves the statement in the format of other verifiers, and shows how they check it', async () => {
    const { page } = await visit(site, `/verify/${site.locker.receipt_id}`)
    await pinKeys(page, await gatewayKeys())
    await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
    await page.getByRole('tab', { name: 'Other verifiers' }).click()
    const download = async (name: string) => {
      const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
      return readFileSync(await saved.path(), 'utf8')
    }
    await page.getByLabel('Only this file').fill('hello.txt')
    const key = createPublicKey(await download('Download the key'))
    const { dsseEnvelope } = JSON.parse(await download('Download Sigstore bundle'))
    for (const { payload, payloadType, signatures } of [dsseEnvelope, JSON.parse(await download('Download DSSE'))]) {
      const bytes = Buffer.from(payload, 'base64')
      const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `), bytes])
      expect(verifySignature(null, signed, key, Buffer.from(signatures[0].sig, 'base64'))).toBe(true)
      expect(JSON.parse(String(bytes)).subject).toEqual([{ name: 'hello.txt', digest: { sha256: sha256('hello') } }])
    }
    await page.getByLabel('Only this file').fill(`it's "$(x)`)
    await page.getByText(`--bundle statement.sigstore.json './it'\\''s "$(x)'`).waitFor()
    await expectAccessible(page, 'verify-others')
    await page.getByRole('button', { name: 'Download DSSE' }).click()
    await page.locator('.field-error').waitFor()
  })

  it('T-38 shows in red that a bundle was altered, or that it has another key', async () => {
    const { page } = await visit(site, '/verify')
    await expectAccessible(page, 'verify-empty')
    await choose(page, site.bundle.replace('hello.txt', 'hullo.txt'))
    await verdict(page, /Do not rely on this: 2 checks failed/)
    expect(await fact(page, 'merkle_root_matches')).toBe('failed')
    await expectAccessible(page, 'verify-failed')
    await click(page, 'Check another bundle')
    await choose(page, site.bundle)
    await verdict(page, /Nothing failed/)
    await pinKeys(page, Buffer.from(SIGNER.publicKey).toString('hex'))
    await verdict(page, 'Do not rely on this: 1 check failed')
    const banner = page.getByRole('region', { name: 'Do not rely on this: 1 check failed' })
    await banner.getByText('the key that signed is not among the pinned keys').waitFor()
    expectNoErrors(page)
  })

  it('LOG-31 LOG-35 explains why a log key or a policy is invalid, and that a key alone names no witness', async () => {
    const { page } = await visit(site, '/verify')
    const root = new URL('../../../', import.meta.url)
    await choose(page, readFileSync(new URL('vectors/bundles/log.json', root), 'utf8'))
    await page.getByText('Publication keys, domain tag and logs').click()
    const give = async (label: string, text: string) => {
      await page.getByLabel(label).fill(text)
      await click(page, 'Use these')
    }
    await give('Log keys', 'gateway.example/log')
    await page.getByText('a key is written as name+hash+base64').waitFor()
    await give('Log keys', /^log (\S+)/m.exec(readFileSync(new URL('docs/examples/log.policy', root), 'utf8'))![1]!)
    await page.locator('#log_included.fact-passed').waitFor({ state: 'attached' })
    expect(await fact(page, 'log_cosigned')).toBe('not checked')
    await page.getByLabel('Log keys').fill('')
    await give('Logs and witnesses', 'quorum w1\n')
    await page.getByText('line 1: w1 is not defined above').waitFor()
  })

  describe('with a special bundle', () => {
    const vector = (name: string) =>
      readFileSync(new URL(`../../../vectors/bundles/${name}.json`, import.meta.url), 'utf8')
    async function open(text: string) {
      const { page } = await visit(site, '/verify')
      await choose(page, text)
      await verdict(page, /Nothing failed, but \d+ things were not checked/)
      const summary = page.getByRole('region', { name: 'This bundle' })
      const facts = (...ids: string[]) => Promise.all(ids.map((id) => fact(page, id)))
      return { page, summary, facts }
    }

    it('ADD-18 shows which files a redacted bundle contains, and what stays unchecked', async () => {
      const { page, summary, facts } = await open(vector('redacted-chosen'))
      await summary.getByText('2 shown of 4').waitFor()
      await summary.getByText('not named: the bundle is redacted').waitFor()
      await summary.getByText('2 of 4 files: their names, sizes and contents are not shown').waitFor()
      expect(await facts('inclusion_proven', 'merkle_root_matches')).toEqual(['passed', 'not checked'])
      await page.getByText('The bundle shows only some of the files: ask for the complete bundle').waitFor()
      expect(await page.getByRole('tab').allTextContents()).toEqual(['Files and tree'])
      expect(await page.getByRole('button', { name: 'Open a receipt file' }).count()).toBe(0)
      await expectAccessible(page, 'verify-redacted')
    })

    it('ADD-18 proves by a bundle without names that a folder has all files and no others', async () => {
      const texts = { 'a.txt': 'one', 'in/b.txt': 'two' }
      const pieces: string[] = []
      await redactBundle([Buffer.from(JSON.stringify(ofTexts(texts)))], (piece) => void pieces.push(piece))
      const { page, summary, facts } = await open(pieces.join(''))
      await summary.getByText('2, without names').waitFor()
      expect(await facts('merkle_root_matches', 'envelope_binds_commitment')).toEqual(['passed', 'not checked'])
      await page.getByLabel('Choose a folder').setInputFiles(folderOf('all', texts))
      await page.locator('#files_match.fact-passed').waitFor({ state: 'attached' })
      expect(await fact(page, 'envelope_binds_commitment')).toBe('passed')
    })

    it('VER-15 shows that a bundle of version 1 signs only its root', async () => {
      const { page, summary, facts } = await open(vector('v1'))
      await summary.getByText('a bundle of version 1 signs only its Merkle root').waitFor()
      await page.getByText('This is a bundle of version 1, which signs only its root: ask for a newer').waitFor()
      expect(await facts('signature_valid', 'statement_digest_matches')).toEqual(['passed', 'not checked'])
      await pinKeys(page, VECTORS_KEY)
      await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
      await expectAccessible(page, 'verify-v1')
    })
  })

  it('CLI-02 compares dropped files by name and content, and names changed, missing and unlisted ones', async () => {
    const { page } = await visit(site, '/verify')
    const texts = { 'a.txt': 'one', 'in/b.txt': 'two', 'in/c.txt': 'three' }
    await choose(page, JSON.stringify(ofTexts(texts)))
    await verdict(page, /Nothing failed/)
    const results = page.getByRole('region', { name: 'Your files, compared' })
    const row = (name: string) => results.getByRole('row').filter({ hasText: name })
    // For a single file, the others are not reported as missing.
    await chooseFiles(page, { 'b.txt': 'two' })
    await row('b.txt').getByText('unchanged, other name').waitFor()
    await row('b.txt').getByText('in/b.txt').waitFor()
    expect(await fact(page, 'files_match')).toBe('not checked')
    // A bare file is looked up wherever it is dropped.
    await click(page, 'Remove them')
    await dropOn(page, 'h1', 'found.bin', 'three')
    await row('found.bin').getByText('in/c.txt').waitFor()
    await chooseFiles(page, { 'a.txt': 'ONE', 'unrelated.txt': 'x' })
    await row('unrelated.txt').getByText('not in the bundle').waitFor()
    await row('a.txt').getByText('changed', { exact: true }).waitFor()
    await verdict(page, 'Do not rely on this: 1 check failed')
    await page.getByLabel('These are all the files').check()
    await row('in/c.txt').getByText('missing').waitFor()
    // The name of a dropped folder does not count.
    await page.getByLabel('Choose a folder').setInputFiles(folderOf('whole', texts))
    await page.locator('#files_match.fact-passed').waitFor({ state: 'attached' })
    // Anyone may have signed it, so passed checks do not make it green.
    await verdict(page, /Nothing failed/)
    await page.getByText('Without a key that you trust, anyone could have made this bundle.').waitFor()
    expect(await page.locator('.verdict-passed').count()).toBe(0)
    expectNoErrors(page)
  })

  it('T-61 a hostile bundle runs nothing, requests nothing, and leaves the page usable', async () => {
    const { page } = await visit(site, '/verify')
    const hostile = ofTexts({
      '<img src=x onerror="document.title=1">.txt': 'a',
      'invoice\u202Efdp.exe': 'b',
      [`${'long'.repeat(100)}.txt`]: 'c',
      'javascript\u0000alert(1)': 'd',
    })
    const marked = {
      ...hostile,
      receipt_id: '<script>document.title="run"</script>',
      anchor: {
        type: 'chain_memo_v2',
        tx: 'javascript:alert(1)',
        chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
        slot: { deep: [] },
      },
      [`\u202E${'field'.repeat(100)}`]: 1,
    }
    await choose(page, JSON.stringify(marked))
    await verdict(page, /Nothing failed/)
    await page.getByText('invoice\\u{202e}fdp.exe').first().waitFor()
    expect(await page.locator('img, .verify a[href^="javascript"], .verify script').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Show in an explorer' }).count()).toBe(0)
    await expectAccessible(page, 'verify-hostile')
    const refused: [text: string, code: string][] = [
      [`{"schema":${'['.repeat(100_000)}`, 'not_strict_json'],
      [JSON.stringify({ ...hostile, note: 'x'.repeat(2_000_000) }), 'too_large'],
    ]
    await click(page, 'Check another bundle')
    for (const [text, code] of refused) {
      await choose(page, text)
      await verdict(page, 'This bundle cannot be checked')
      await page.getByText(`(${code})`).waitFor()
    }
    await choose(page, site.bundle)
    await verdict(page, /Nothing failed/)
    expect(await page.title()).toContain('Verify')
    expectNoErrors(page)
  })

  it('T-38 T-61 results for other keys or another node disappear, even after a cancelled check', async () => {
    const { page } = await visit(site, `/verify/${site.locker.receipt_id}`)
    await verdict(page, /Nothing failed/)
    await pinKeys(page, await gatewayKeys())
    await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
    await askNode(page, await serve(() => {}))
    await page.locator('#key_pinned.fact-not_checked').waitFor({ state: 'attached' })
    expect(await page.locator('.fact-passed').count()).toBe(0)
    await click(page, 'Cancel')
    await verdict(page, /Cancelled/)
    expect(await page.locator('.fact-passed').count()).toBe(0)
    await expectAccessible(page, 'verify-outdated')
  })

  it('T-61 keeps the chosen files when keys or a node are added during hashing, or when hashing is cancelled', async () => {
    // The page's messages to its worker are delayed, so hashing starts only when the test allows it.
    const holdHashing = () => {
      const held: (() => void)[] = []
      const { postMessage } = Worker.prototype
      Worker.prototype.postMessage = function (this: Worker, message: { call?: string }) {
        if (message.call === 'hashFiles') held.push(() => postMessage.call(this, message))
        else postMessage.call(this, message)
      }
      Object.assign(window, { held })
    }
    const prepare = async (page: Page) => void (await page.addInitScript(holdHashing))
    const { page, problems } = await visit(site, `/verify/${site.locker.receipt_id}`, undefined, prepare)
    const held = () => page.evaluate(() => (window as unknown as { held: unknown[] }).held.length)
    await verdict(page, /Nothing failed/)
    await page.getByLabel('Choose a folder').setInputFiles(folderOf('chosen', { 'hello.txt': 'hello' }))
    const hashing = page.getByRole('region', { name: 'Hashing your files' })
    await hashing.waitFor()
    expect(await fact(page, 'merkle_root_matches')).toBe('passed')

    await click(page, 'Cancel')
    await verdict(page, /Cancelled/)
    await click(page, 'Check again')
    await hashing.waitFor()
    expect(await held()).toBe(2)
    await pinKeys(page, await gatewayKeys())
    await page.locator('#merkle_root_matches.fact-not_checked').waitFor({ state: 'attached' })
    await askNode(page, site.chains.primary.url)
    await page.getByText(`Asked: ${new URL(site.chains.primary.url).host}`).waitFor()
    await hashing.waitFor()
    // Files that are being hashed are not hashed again.
    expect(await held()).toBe(2)
    await page.evaluate(() => {
      for (const send of (window as unknown as { held: (() => void)[] }).held) send()
    })
    await verdict(page, /All \d+ checks passed/)
    expect(await fact(page, 'files_match')).toBe('passed')
    expect(problems).toEqual([])
  })

  it('T-61 works in a worker, shows its progress, and can be cancelled', async () => {
    const { page, problems } = await visit(site, '/verify')
    // The bundle arrives in two halves, so that the test sees the page at work.
    const files = listedFiles(100_000)
    const text = JSON.stringify(bundleOf(files))
    const half = Promise.withResolvers<void>()
    const base = await serve(async (request, response) => {
      response.writeHead(200, { 'access-control-allow-origin': '*', 'content-length': text.length })
      response.write(text.slice(0, text.length / 2))
      if (request.url === '/slow.json') await half.promise
      response.end(text.slice(text.length / 2))
    })
    await page.goto(`${site.url}/verify?source=${encodeURIComponent(`${base}/slow.json`)}`)
    // Another host is asked only when the visitor agrees.
    const agree = page.getByRole('button', { name: `Fetch it from ${new URL(base).host}` })
    await agree.waitFor()
    expectNoErrors(page)
    await agree.click()
    await page.getByText('Fetching the bundle').waitFor()
    await page.getByText(/of 1\d(\.\d)? MiB/).waitFor()
    expect(page.workers().length).toBe(1)
    await click(page, 'Cancel')
    await verdict(page, /Cancelled/)
    half.resolve()
    await click(page, 'Check again')
    await verdict(page, /Nothing failed/)
    await page.getByText('1 to 20 of 100,000').waitFor()
    await page.getByLabel('Find by name').fill('F0099999')
    await click(page, 'Show path of f0099999')
    await page.getByRole('radiogroup').waitFor()
    expect(problems).toEqual([])
  })

  it('T-61 does not move visible parts of the page when a bundle cannot be fetched', async () => {
    const { page } = await visit(site, `/verify/rcpt_${'0'.repeat(32)}`)
    await verdict(page, 'The bundle could not be fetched')
    expect(await layoutShift(page)).toBeLessThan(0.02)
    expectNoErrors(page, 404)
  })

  it('VER-22 loads a bundle of its own gateway by address, and shows what to do when there is none', async () => {
    const own = `${site.prefixedUrl}/v1/storage/evidence-bundle?receipt_id=${site.locker.receipt_id}`
    const { page } = await visit({ ...site, url: site.prefixedUrl }, `/verify?source=${encodeURIComponent(own)}`)
    await verdict(page, /Nothing failed/)
    await click(page, 'Check another bundle')
    await page.getByLabel('Or a receipt id, or the address of a bundle').fill(`rcpt_${'0'.repeat(32)}`)
    await click(page, 'Fetch it')
    await verdict(page, 'The bundle could not be fetched')
    await page.getByLabel('Or a receipt id, or the address of a bundle').fill('ftp://x')
    await click(page, 'Fetch it')
    await page.getByText('This is neither a receipt id nor an address').waitFor()
    expectNoErrors(page, 404)
  })
})

describe('the saved copy', () => {
  it('T-61 is one file with a published hash, and works from a disk without a network', async () => {
    const index = (await (await fetch(`${site.url}/.well-known/svc.json`)).json()) as {
      verify_page: { url: string; sha256: string }
    }
    const html = await (await fetch(index.verify_page.url)).text()
    expect(sha256(html)).toBe(index.verify_page.sha256)
    const file = join(folder, 'verify.html')
    writeFileSync(file, html)
    const sums = await (await fetch(`${site.url}/verify.html.sha256`)).text()
    expect(sums).toBe(`${sha256(html)}  verify.html\n`)
    const { page, problems } = await visit({ browser: site.browser, url: pathToFileURL(file).href }, '', {
      offline: true,
    })
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await expectAccessible(page, 'verify-saved')
    await pinKeys(page, await gatewayKeys())
    await choose(page, site.bundle)
    await page.locator('#key_pinned.fact-passed').waitFor({ state: 'attached' })
    await chooseFiles(page, { 'hello.txt': 'hello' })
    await page.locator('#files_match.fact-passed').waitFor({ state: 'attached' })
    expect(page.workers().length).toBe(1)
    expect(requests.filter((url) => !url.startsWith('blob:'))).toEqual([])
    expect(problems).toEqual([])
    expect(readFileSync(file, 'utf8')).not.toContain(process.cwd())
  })

  it('T-61 runs nothing but its own script', async () => {
    const html = await (await fetch(`${site.url}/verify.html`)).text()
    const file = join(folder, 'altered.html')
    writeFileSync(file, html.replace('<div id="root">', '<script>document.title="altered"</script><div id="root">'))
    const { page, problems } = await visit({ browser: site.browser, url: pathToFileURL(file).href }, '', {})
    await page.getByText('Drop an evidence bundle here').waitFor()
    expect(await page.title()).toContain('Verify')
    expect(problems.join()).toMatch(/Content Security Policy/)
  })
})
