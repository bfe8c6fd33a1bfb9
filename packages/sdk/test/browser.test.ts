import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { toHex } from '@svc/protocol/bytes'
import { chromium } from 'playwright'
import { build } from 'vite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chromiumPath } from '../../../scripts/chromium.ts'
import { signerFromSeed } from '../src/signers.ts'
import { openTestbed } from './lockers.ts'

interface Chunk {
  code: string
  imports: string[]
  moduleIds: string[]
}

/** Bundles an entry point for web pages. */
async function bundled(entry: string): Promise<Chunk> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      lib: { entry: fileURLToPath(new URL(entry, import.meta.url)), formats: ['iife'], name: 'sdk', fileName: 'sdk' },
    },
  })
  const [{ output }] = built as unknown as [{ output: [Chunk] }] // one format, one chunk
  return output[0]
}

const nodeModules = ({ imports, moduleIds }: Chunk) =>
  [...imports, ...moduleIds].filter((id) => /node:|browser-external|crypto-node/.test(id))

describe('the SDK bundled for a browser', () => {
  it.each([
    'index.ts',
    'encryption/index.ts',
    'errors.ts',
    'explorer.ts',
    'json-rpc.ts',
    'money.ts',
    'purchases/wallet-urls.ts',
    'wallets/evm-wallet.ts',
    'wallets/solana-wallet.ts',
  ])('contains no Node modules in %s', { tags: ['nightly'] }, async (entry) => {
    expect(nodeModules(await bundled(`../src/${entry}`))).toEqual([])
  })

  it.each(['node/index.ts', 'node/user-folder.ts'])(
    'needs Node modules in %s, which is therefore a separate entry point',
    async (entry) => {
      expect(nodeModules(await bundled(`../src/${entry}`))).not.toEqual([])
    },
  )

  it('ADD-09 T-59 uploads, encrypts, reads, attests, lists lockers and corrects its clock in a page of another origin', {
    tags: ['nightly'],
  }, async () => {
    const testbed = await openTestbed({ FILE_LIMITS: 'part_bytes=131072' })
    const page = await openPage()
    onTestFinished(() => testbed.close())
    const seed = crypto.getRandomValues(new Uint8Array(32))
    const locker = await testbed.locker(signerFromSeed(seed))
    await page.addScriptTag({ content: (await bundled('programs/in-browser.ts')).code })
    const task = {
      baseUrl: testbed.proxy.url,
      seed: [...seed],
      pinnedKeys: [toHex(testbed.gateway.context.signers.statement.publicKey)],
      locker,
    }
    expect(await page.evaluate((given) => globalThis.runInPage(given), task)).toEqual({
      length: 300_000,
      isSame: true,
      isDecrypted: true,
      contentType: 'image/png',
      count: 3,
      names: ['in/parts', 'secret.age', 'whole.png'],
      units: 1,
      found: [locker.receipt_id],
      left: 0,
    })
  })
})

async function openPage() {
  // The client must not need eval.
  const policy = "script-src 'unsafe-inline'"
  const headers = { 'content-type': 'text/html', 'content-security-policy': policy }
  const site = createServer((_, response) => response.writeHead(200, headers).end('<!doctype html>'))
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
  const browser = await chromium.launch({ executablePath: chromiumPath(), args })
  onTestFinished(async () => {
    await browser.close()
    site.close()
  })
  const page = await browser.newPage()
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
  return page
}
