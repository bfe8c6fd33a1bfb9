// The readers of `readers.ts` and `signatures.ts`, bundled for a page and run in Chromium.

import { fileURLToPath } from 'node:url'
import { toBase64 } from '@svc/protocol/bytes'
import { chromium } from 'playwright'
import { build } from 'vite'
import { chromiumPath } from '../../../scripts/chromium.ts'
import type { Corpora } from './cases.ts'
import type { PageAnswer } from './programs/in-browser.ts'
import type { Examples } from './readers.ts'

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']

export async function readInBrowser(examples: Examples, { json, ed25519 }: Corpora): Promise<PageAnswer> {
  const content = await pageProgram()
  await using opened = new AsyncDisposableStack()
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ARGUMENTS })
  opened.defer(() => browser.close())
  const page = await browser.newPage()
  await page.addScriptTag({ content })
  return await page.evaluate((task) => globalThis.readInPage(task), {
    examples,
    texts: json.map(({ bytes }) => toBase64(bytes)),
    signed: ed25519.map(({ publicKey, message, signature }) => ({
      publicKey: toBase64(publicKey),
      message: toBase64(message),
      signature: toBase64(signature),
    })),
  })
}

async function pageProgram(): Promise<string> {
  const entry = fileURLToPath(new URL('programs/in-browser.ts', import.meta.url))
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, lib: { entry, formats: ['iife'], name: 'readers', fileName: 'readers' } },
  })
  const [{ output }] = built as unknown as [{ output: [{ code: string }] }] // one format, one chunk
  return output[0].code
}
