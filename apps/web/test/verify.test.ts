import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { redactBundle } from '@svc/verifier/redact-bundle'
import { bundleOf, listedFiles, SIGNER } from '@svc/verifier/test/bundles'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSite, type Site } from './site.ts'
import { expectCalm, expectGoodLooks, picture, visit } from './visit.ts'

let site: Site
let folder: string
beforeAll(async () => {
  site = await openSite()
  folder = mkdtempSync(join(tmpdir(), 'svc-verify-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await site.close()
})

const bundleFile = (text: string, name = 'bundle.json') => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(text),
})
const choose = (page: Page, text: string) => page.getByLabel('Choose a bundle').setInputFiles(bundleFile(text))
const verdict = (page: Page, text: string | RegExp) => page.getByRole('heading', { level: 2, name: text }).waitFor()
const fact = async (page: Page, id: string) => {
  const summary = page.locator(`details#${id} summary`)
  return (await summary.locator('.status').textContent()) as string
}
const pinKeys = async (page: Page, text: string) => {
  await page.getByLabel('Public keys').fill(text)
  await page.getByRole('button', { name: 'Trust these keys' }).click()
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
/** Of the bundles in `vectors`. */
const VECTORS_KEY = '3b96e8a182bab9c6691d0b79b7c5399340562ef5a632956abd1277cc144acd6e'
const gatewayKeys = async () => (await fetch(`${site.url}/v1/keys`)).text()

describe('the verify page', () => {
  it('T-63 T-38 checks a receipt of the gateway: grey until keys, files and a node are given, then green', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, `/verify/${site.locker.receipt_id}`)
    const { page } = visited
    await verdict(page, /Nothing failed, but \d+ things were not checked/)
    await page.getByText('Without a key that you trust, anybody could have made this bundle.').waitFor()
    expect(await fact(page, 'merkle_root_matches')).toBe('passed')
    expect(await fact(page, 'signature_valid')).toBe('passed')
    expect(await fact(page, 'receipt_signature_valid')).toBe('passed')
    for (const id of ['key_pinned', 'files_match', 'anchor_tx_succeeded']) {
      expect(await fact(page, id)).toBe('not checked')
      expect(await page.locator(`#${id} .status-good`).count()).toBe(0)
    }
    await page
      .locator('#key_pinned')
      .getByText('no key was pinned: the signature shows only that the bundle agrees with itself')
      .first()
      .waitFor()
    await expectGoodLooks(visited, 'verify-open')
    expectCalm(visited)

    await page.setViewportSize({ width: 1280, height: 900 })
    await pinKeys(page, 'ed25519:0123456789abcdef')
    await page.getByText(/is a key id, too short to pin/).waitFor()
    await page.getByLabel('Open a key file').setInputFiles({
      name: 'keys.json',
      mimeType: 'application/json',
      buffer: Buffer.from(await gatewayKeys()),
    })
    await page.getByLabel('Remember in this browser').check()
    await page.getByRole('button', { name: 'Trust these keys' }).click()
    await page.locator('#key_pinned.fact-passed').waitFor()
    expect(await fact(page, 'receipt_is_of_bundle')).toBe('passed')

    await page
      .getByLabel('Choose files', { exact: true })
      .setInputFiles({ name: 'hello.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
    await page.locator('#files_match.fact-passed').waitFor()

    await page.getByLabel('Address of a node of the primary chain').fill('http://example.com')
    await page.getByRole('button', { name: 'Ask this node' }).click()
    await page.getByText('An address begins with https://').waitFor()
    expectCalm(visited)
    await page.getByLabel('Address of a node of the primary chain').fill(site.chains.primary.url)
    await page.getByRole('button', { name: 'Ask this node' }).click()
    await verdict(page, /All \d+ checks passed/)
    expect([...visited.origins].sort()).toEqual(
      [new URL(site.chains.primary.url).origin, new URL(site.url).origin].sort(),
    )
    await page.locator('#anchor_payload_matches summary').click()
    await page.locator('#anchor_payload_matches').getByText('What it does not prove').waitFor()
    await page.getByRole('button', { name: 'Show path of hello.txt' }).click()
    await page.getByRole('radiogroup').waitFor()
    await expectGoodLooks(visited, 'verify-passed')
    expect(visited.problems).toEqual([])

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
    await expectGoodLooks(visited, 'verify-others')
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('button', { name: 'Download DSSE' }).click()
    await page.locator('.field-error').waitFor()

    // Remembered in this browser only, and removed again.
    await page.reload()
    await page.locator('#key_pinned.fact-passed').waitFor()
    await page.getByRole('button', { name: 'Remove keys.json' }).click()
    await page.locator('#key_pinned.fact-not_checked').waitFor()
    expect(await page.evaluate(() => localStorage.getItem('svc-trusted-keys'))).toBe(null)
    expect(await visited.bytes()).toBeGreaterThan(0)
    await visited.leave()
  })

  it('T-38 says in red that a bundle was altered, and that a key is another', { tags: ['nightly'] }, async () => {
    const visited = await visit(site, '/verify')
    const { page } = visited
    await expectGoodLooks(visited, 'verify-empty')
    await page.setViewportSize({ width: 1280, height: 900 })
    await choose(page, site.bundle.replace('hello.txt', 'hullo.txt'))
    await verdict(page, /Do not rely on this: 2 checks failed/)
    expect(await fact(page, 'merkle_root_matches')).toBe('failed')
    await expectGoodLooks(visited, 'verify-failed')
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('button', { name: 'Check another bundle' }).click()
    await choose(page, site.bundle)
    await verdict(page, /Nothing failed/)
    await pinKeys(page, Buffer.from(SIGNER.publicKey).toString('hex'))
    await verdict(page, 'Do not rely on this: 1 check failed')
    await page.locator('#key_pinned').getByText('the key that signed is not among the pinned keys').first().waitFor()
    expectCalm(visited)
    await visited.leave()
  })

  it('LOG-31 LOG-35 LOG-48 checks the log with a key or a policy that the visitor gives, and names the witnesses', async () => {
    const visited = await visit(site, '/verify')
    const { page } = visited
    const root = new URL('../../../', import.meta.url)
    await choose(page, readFileSync(new URL('vectors/bundles/log.json', root), 'utf8'))
    await page.locator('#log_included.fact-not_checked').waitFor()
    await page.getByText('Publication keys, domain tag and logs').click()
    await page.getByLabel('Log keys').fill('gateway.example/log')
    await page.getByRole('button', { name: 'Use these' }).click()
    await page.getByText('a key is written as name+hash+base64').waitFor()
    const policy = readFileSync(new URL('docs/examples/log.policy', root), 'utf8')
    await page.getByLabel('Log keys').fill(/^log (\S+)/m.exec(policy)![1]!)
    await page.getByRole('button', { name: 'Use these' }).click()
    await page.locator('#log_included.fact-passed').waitFor()
    await page.locator('#log_cosigned.fact-not_checked').waitFor()
    await page.getByLabel('Log keys').fill('')
    await page.getByLabel('Logs and witnesses').fill('quorum w1\n')
    await page.getByRole('button', { name: 'Use these' }).click()
    await page.getByText('line 1: w1 is not defined above').waitFor()
    await page.getByLabel('Logs and witnesses').fill(policy)
    await page.getByRole('button', { name: 'Use these' }).click()
    await page.locator('#log_included.fact-passed').waitFor()
    await page.getByText('w1.example/witness, 2026-06-12T00:00:01Z').waitFor()
    await page.locator('#log_cosigned.fact-passed summary').click()
    await page.locator('#log_cosigned').getByText('w1.example/witness: 2026-06-12T00:00:01Z').waitFor()
    expectCalm(visited)
    await visited.leave()
  })

  it('ADD-18 VER-15 says of redacted bundles and of version 1 what they show, and what they leave open', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, '/verify')
    const { page } = visited
    const vectors = new URL('../../../vectors/bundles/', import.meta.url)
    const open = async (text: string, expected: RegExp) => {
      await choose(page, text)
      await verdict(page, expected)
    }
    const openVector = (name: string, expected: RegExp) =>
      open(readFileSync(new URL(`${name}.json`, vectors), 'utf8'), expected)
    const another = () => page.getByRole('button', { name: 'Check another bundle' }).click()
    const summary = page.getByRole('region', { name: 'This bundle' })
    const facts = async (...ids: string[]) => Promise.all(ids.map((id) => fact(page, id)))

    await openVector('redacted-chosen', /Nothing failed, but \d+ things were not checked/)
    await summary.getByText('2 shown of 4').waitFor()
    await summary.getByText('not named: the bundle is redacted').waitFor()
    await summary.getByText('2 of 4 files: nothing is said of their names, sizes and contents').waitFor()
    expect(await facts('inclusion_proven', 'merkle_root_matches')).toEqual(['passed', 'not checked'])
    await page.getByText('The bundle shows some of the files only: ask for the whole bundle').waitFor()
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Files and tree'])
    expect(await page.getByRole('button', { name: 'Open a receipt file' }).count()).toBe(0)
    await page
      .getByRole('button', { name: /^Show path of/ })
      .first()
      .click()
    await page.getByRole('radiogroup').waitFor()
    await expectGoodLooks(visited, 'verify-redacted')
    await page.setViewportSize({ width: 1280, height: 900 })
    await another()

    // Who has all files sees that there are no others, without a name in the bundle.
    const texts = { 'a.txt': 'one', 'in/b.txt': 'two' }
    const pieces: string[] = []
    await redactBundle([Buffer.from(JSON.stringify(ofTexts(texts)))], (piece) => void pieces.push(piece))
    const redacted = pieces.join('')
    expect(redacted).not.toContain('a.txt')
    await open(redacted, /Nothing failed/)
    await summary.getByText('2, without names').waitFor()
    await page.getByText('Not counted: The shown files are among those of the statement').waitFor()
    expect(await facts('merkle_root_matches', 'envelope_binds_commitment')).toEqual(['passed', 'not checked'])
    for (const [name, text] of Object.entries(texts)) {
      mkdirSync(join(folder, 'all', dirname(name)), { recursive: true })
      writeFileSync(join(folder, 'all', name), text)
    }
    await page.getByLabel('Choose a folder').setInputFiles(join(folder, 'all'))
    await page.locator('#files_match.fact-passed').waitFor()
    expect(await fact(page, 'envelope_binds_commitment')).toBe('passed')
    await picture(page, 'verify-no-names')
    await another()

    await openVector('v1', /Nothing failed/)
    await summary.getByText('a bundle of version 1 signs its Merkle root only').waitFor()
    await page
      .getByText('This is a bundle of version 1, which signs its root only: ask for a newer statement')
      .waitFor()
    expect(await facts('merkle_root_matches', 'signature_valid', 'statement_digest_matches')).toEqual([
      'passed',
      'passed',
      'not checked',
    ])
    await pinKeys(page, VECTORS_KEY)
    await page.locator('#key_pinned.fact-passed').waitFor()
    await expectGoodLooks(visited, 'verify-v1')
    await page.setViewportSize({ width: 1280, height: 900 })
    await another()

    for (const altered of ['redacted-proof-altered', 'redacted-leaves-altered', 'v1-renamed', 'v1-signature-flipped']) {
      await openVector(altered, /Do not rely on this/)
      await another()
    }
    expectCalm(visited)
    await visited.leave()
  })

  it('CLI-02 compares dropped files by name and by content, and says which are changed, missing or not listed', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, '/verify')
    const { page } = visited
    await choose(page, JSON.stringify(ofTexts({ 'a.txt': 'one', 'in/b.txt': 'two', 'in/c.txt': 'three' })))
    await verdict(page, /Nothing failed/)
    const give = (files: Record<string, string>) =>
      page
        .getByLabel('Choose files', { exact: true })
        .setInputFiles(
          Object.entries(files).map(([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })),
        )
    const results = page.getByRole('region', { name: 'Your files, compared' })
    const row = (name: string) => results.getByRole('row').filter({ hasText: name })
    // A single file from anywhere: the others are not missed.
    await give({ 'b.txt': 'two' })
    await row('b.txt').getByText('unchanged, other name').waitFor()
    await row('b.txt').getByText('in/b.txt').waitFor()
    expect(await fact(page, 'files_match')).toBe('not checked')
    await give({ 'a.txt': 'ONE', 'stranger.txt': 'x' })
    await row('stranger.txt').getByText('not in the bundle').waitFor()
    await row('a.txt').getByText('changed', { exact: true }).waitFor()
    await verdict(page, 'Do not rely on this: 1 check failed')
    await page.getByLabel('These are all the files').check()
    await row('in/c.txt').getByText('missing').waitFor()
    await picture(page, 'verify-files')
    // A folder, dropped: its own name does not count.
    mkdirSync(join(folder, 'whole/in'), { recursive: true })
    for (const [name, text] of [
      ['a.txt', 'one'],
      ['in/b.txt', 'two'],
      ['in/c.txt', 'three'],
    ] as const)
      writeFileSync(join(folder, 'whole', name), text)
    await page.getByLabel('Choose a folder').setInputFiles(join(folder, 'whole'))
    await page.locator('#files_match.fact-passed').waitFor()
    // Anybody may have signed it: all that passes does not make it green.
    await verdict(page, /Nothing failed/)
    await page.getByText('Without a key that you trust, anybody could have made this bundle.').waitFor()
    expect(await page.locator('.verdict-passed').count()).toBe(0)
    expectCalm(visited)
    await visited.leave()
  })

  it('T-63 a hostile bundle runs nothing, requests nothing, and leaves the page usable', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, '/verify')
    const { page } = visited
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
    await expectGoodLooks(visited, 'verify-hostile')
    await page.setViewportSize({ width: 1280, height: 900 })
    const deep = `{"schema":${'['.repeat(100_000)}`
    const refused: [text: string, code: string][] = [
      [deep, 'not_strict_json'],
      ['{}', 'not_a_bundle'],
      [JSON.stringify({ ...hostile, files: {} }), 'not_a_bundle'],
      [JSON.stringify({ ...hostile, files: [{ filename: 1 }] }), 'bad_file_entry'],
      [JSON.stringify({ ...hostile, bundle_version: 'constructor' }), 'unsupported_version'],
      [`{"files":[${' '.repeat(200_000)}`, 'not_strict_json'],
      [JSON.stringify({ ...hostile, note: 'x'.repeat(2_000_000) }), 'too_large'],
    ]
    await page.getByRole('button', { name: 'Check another bundle' }).click()
    for (const [text, code] of refused) {
      await choose(page, text)
      await verdict(page, 'This is not a bundle that can be checked')
      await page.getByText(`(${code})`).waitFor()
    }
    await picture(page, 'verify-refused')
    await choose(page, site.bundle)
    await verdict(page, /Nothing failed/)
    expect(await page.title()).toContain('Verify')
    expectCalm(visited)
    await visited.leave()
  })

  it('T-38 T-63 what was found with other keys or another node does not stay, also after a cancelled check', {
    tags: ['nightly'],
  }, async () => {
    const visited = await visit(site, `/verify/${site.locker.receipt_id}`)
    const { page } = visited
    await verdict(page, /Nothing failed/)
    await pinKeys(page, await gatewayKeys())
    await page.locator('#key_pinned.fact-passed').waitFor()
    const node = createServer(() => {})
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    const silent = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    await page.getByLabel('Address of a node of the primary chain').fill(silent)
    await page.getByRole('button', { name: 'Ask this node' }).click()
    await page.locator('#key_pinned.fact-not_checked').waitFor()
    expect(await page.locator('.fact-passed').count()).toBe(0)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await verdict(page, /Cancelled/)
    expect(await page.locator('.fact-passed').count()).toBe(0)
    await expectGoodLooks(visited, 'verify-outdated')
    await visited.leave()
    node.closeAllConnections()
    node.close()
  })

  it('T-63 keeps the chosen files when keys or a node are given while it hashes, or when it is cancelled', {
    tags: ['nightly'],
  }, async () => {
    // Hashing lasts until the test lets it begin: the page's messages to its worker are held back.
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
    const visited = await visit(site, `/verify/${site.locker.receipt_id}`, undefined, prepare)
    const { page } = visited
    const held = () => page.evaluate(() => (window as unknown as { held: unknown[] }).held.length)
    await verdict(page, /Nothing failed/)
    mkdirSync(join(folder, 'chosen'))
    writeFileSync(join(folder, 'chosen/hello.txt'), 'hello')
    await page.getByLabel('Choose a folder').setInputFiles(join(folder, 'chosen'))
    const hashing = page.getByRole('region', { name: 'Hashing your files' })
    await hashing.waitFor()
    expect(await fact(page, 'merkle_root_matches')).toBe('passed')

    await page.getByRole('button', { name: 'Cancel' }).click()
    await verdict(page, /Cancelled/)
    await page.getByRole('button', { name: 'Check again' }).click()
    await hashing.waitFor()
    expect(await held()).toBe(2)
    await pinKeys(page, await gatewayKeys())
    await page.locator('#merkle_root_matches.fact-not_checked').waitFor()
    await page.getByLabel('Address of a node of the primary chain').fill(site.chains.primary.url)
    await page.getByRole('button', { name: 'Ask this node' }).click()
    await page.getByText(`Asked: ${new URL(site.chains.primary.url).host}`).waitFor()
    await hashing.waitFor()
    // What is being hashed is not hashed again.
    expect(await held()).toBe(2)
    await page.evaluate(() => {
      for (const send of (window as unknown as { held: (() => void)[] }).held) send()
    })
    await verdict(page, /All \d+ checks passed/)
    expect(await fact(page, 'files_match')).toBe('passed')
    expect(visited.problems).toEqual([])
    await visited.leave()
  })

  it('T-63 works in a worker, shows how far it is, and can be cancelled', { tags: ['nightly'] }, async () => {
    const visited = await visit(site, '/verify')
    const { page } = visited
    // The bundle arrives in two halves, so that the page is seen at work.
    const files = listedFiles(100_000)
    const text = JSON.stringify(bundleOf(files))
    const half = Promise.withResolvers<void>()
    const server = createServer(async (request, response) => {
      response.writeHead(200, { 'access-control-allow-origin': '*', 'content-length': text.length })
      response.write(text.slice(0, text.length / 2))
      if (request.url === '/slow.json') await half.promise
      response.end(text.slice(text.length / 2))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await page.goto(`${site.url}/verify?source=${encodeURIComponent(`${base}/slow.json`)}`)
    // Another host is asked only when the visitor agrees.
    const agree = page.getByRole('button', { name: `Fetch it from ${new URL(base).host}` })
    await agree.waitFor()
    expectCalm(visited)
    await picture(page, 'verify-foreign')
    await agree.click()
    await page.getByText('Fetching the bundle').waitFor()
    await page.getByText(/of 1\d(\.\d)? MiB/).waitFor()
    expect(page.workers().length).toBe(1)
    await picture(page, 'verify-working')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await verdict(page, /Cancelled/)
    half.resolve()
    await page.getByRole('button', { name: 'Check again' }).click()
    await verdict(page, /Nothing failed/)
    await page.getByText('1 to 20 of 100,000').waitFor()
    await page.getByLabel('Find by name').fill('F0099999')
    await page.getByRole('button', { name: 'Show path of f0099999' }).click()
    await page.getByRole('radiogroup').waitFor()
    await picture(page, 'verify-tree')
    expect(visited.problems).toEqual([])
    await visited.leave()
    server.close()
  })

  it('VER-22 takes a bundle of its own gateway by address, and says what to do when there is none', {
    tags: ['nightly'],
  }, async () => {
    const own = `${site.prefixedUrl}/v1/storage/evidence-bundle?receipt_id=${site.locker.receipt_id}`
    const visited = await visit({ ...site, url: site.prefixedUrl }, `/verify?source=${encodeURIComponent(own)}`)
    const { page } = visited
    await verdict(page, /Nothing failed/)
    await page.getByRole('button', { name: 'Check another bundle' }).click()
    await page.getByLabel('Or a receipt id, or the address of a bundle').fill(`rcpt_${'0'.repeat(32)}`)
    await page.getByRole('button', { name: 'Fetch it' }).click()
    await verdict(page, 'The bundle could not be fetched')
    await page.getByLabel('Or a receipt id, or the address of a bundle').fill('ftp://x')
    await page.getByRole('button', { name: 'Fetch it' }).click()
    await page.getByText('This is neither a receipt id nor an address').waitFor()
    expect(visited.problems.filter((problem) => !problem.includes('404'))).toEqual([])
    await visited.leave()
  })
})

describe('the saved copy', () => {
  it('T-64 is one file with a published hash, and works from a disk without a network', {
    tags: ['nightly'],
  }, async () => {
    const index = (await (await fetch(`${site.url}/.well-known/svc.json`)).json()) as {
      verify_page: { url: string; sha256: string }
    }
    const html = await (await fetch(index.verify_page.url)).text()
    expect(sha256(html)).toBe(index.verify_page.sha256)
    const file = join(folder, 'verify.html')
    writeFileSync(file, html)
    const sums = await (await fetch(`${site.url}/verify.html.sha256`)).text()
    expect(sums).toBe(`${sha256(html)}  verify.html\n`)
    const visited = await visit({ browser: site.browser, url: pathToFileURL(file).href }, '', { offline: true })
    const { page } = visited
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await expectGoodLooks(visited, 'verify-saved')
    await page.setViewportSize({ width: 1280, height: 900 })
    await pinKeys(page, await gatewayKeys())
    await choose(page, site.bundle)
    await page.locator('#key_pinned.fact-passed').waitFor()
    await page
      .getByLabel('Choose files', { exact: true })
      .setInputFiles({ name: 'hello.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
    await page.locator('#files_match.fact-passed').waitFor()
    expect(page.workers().length).toBe(1)
    expect(requests.filter((url) => !url.startsWith('blob:'))).toEqual([])
    expect(visited.problems).toEqual([])
    await visited.leave()
    expect(readFileSync(file, 'utf8')).not.toContain(process.cwd())
  })

  it('T-64 runs nothing but its own script', { tags: ['nightly'] }, async () => {
    const html = await (await fetch(`${site.url}/verify.html`)).text()
    const file = join(folder, 'altered.html')
    writeFileSync(file, html.replace('<div id="root">', '<script>document.title="altered"</script><div id="root">'))
    const visited = await visit({ browser: site.browser, url: pathToFileURL(file).href }, '', {})
    await visited.page.getByText('Drop an evidence bundle here').waitFor()
    expect(await visited.page.title()).toContain('Verify')
    expect(visited.problems.join()).toMatch(/Content Security Policy/)
    await visited.leave()
  })
})
