// The readers of `readers.ts` and `signatures.ts` and the rules, bundled for a page and run in Chromium.

import { fileURLToPath } from 'node:url'
import { toBase64 } from '@svc/protocol/bytes'
import { chromium, type Page } from 'playwright'
import { build } from 'vite'
import { chromiumPath } from '../../../scripts/chromium.ts'
import type { Cases, Corpora } from './cases.ts'
import type { PageAnswer } from './programs/in-browser.ts'
import type { Examples } from './readers.ts'
import { RULED_KINDS, type RuledKind } from './rules/rules.ts'

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
/** The number of cases in one message to a page. */
const AT_ONCE = 5000

export interface BrowserAnswer extends PageAnswer {
  /** The problems of each case, by kind. */
  problems: Record<RuledKind, (string | null)[]>
}

export async function readInBrowser(examples: Examples, corpora: Corpora): Promise<BrowserAnswer> {
  const { json, ed25519 } = corpora
  await using opened = new AsyncDisposableStack()
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ARGUMENTS })
  opened.defer(() => browser.close())
  const page = await browser.newPage()
  await page.addScriptTag({ content: await pageProgram() })
  const answer = await page.evaluate((task) => globalThis.readInPage(task), {
    examples,
    texts: json.map(({ bytes }) => toBase64(bytes)),
    signed: ed25519.map(({ publicKey, message, signature }) => ({
      publicKey: toBase64(publicKey),
      message: toBase64(message),
      signature: toBase64(signature),
    })),
  })
  const problems = {} as BrowserAnswer['problems']
  for (const kind of RULED_KINDS) problems[kind] = await problemsIn(page, kind, corpora[kind])
  return { ...answer, problems }
}

async function problemsIn(page: Page, kind: RuledKind, cases: readonly Cases[RuledKind][]) {
  const problems: (string | null)[] = []
  for (let at = 0; at < cases.length; at += AT_ONCE) {
    const some = JSON.stringify(cases.slice(at, at + AT_ONCE))
    problems.push(
      ...(await page.evaluate(([name, text]) => globalThis.problemsInPage(name as RuledKind, JSON.parse(text)), [
        kind,
        some,
      ] as const)),
    )
  }
  return problems
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
