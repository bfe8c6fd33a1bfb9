// For tests: a page in a separate browser context, which is watched for errors.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContextOptions, Page, Request } from 'playwright'
import { expect, onTestFinished } from 'vitest'
import { DESKTOP, ownContext, sharedContext } from './contexts.ts'
import type { Site } from './site.ts'

/** Screenshots of the pages, if PICTURES=1 is set; git ignores the folder. */
const PICTURES = fileURLToPath(new URL('./__screenshots__', import.meta.url))

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url))

const APPEARANCES = [
  ['light', 'desktop', DESKTOP],
  ['dark', 'phone', { width: 390, height: 844 }],
] as const

export interface Visit<T = unknown> {
  page: Page
  /** The result of `prepare`. */
  prepared: T
  /** The errors in the page, including violations of its policy. */
  problems: string[]
  /** The origins that the page sent requests to. */
  origins: Set<string>
  /** The compressed size of the page's files. */
  bytes: () => Promise<number>
}

const watched = new WeakMap<Page, Pick<Visit, 'problems' | 'origins'>>()

/**
 * Opens a page until the test ends. Without options, the context may be reused, so `prepare` must change only the page.
 * With options, even empty ones, the context is new, and may get a clock, or a wallet for all of its pages.
 */
export async function visit<T = unknown>(
  { browser, url }: Pick<Site, 'browser' | 'url'>,
  path: string,
  options?: BrowserContextOptions,
  prepare?: (page: Page) => Promise<T>,
): Promise<Visit<T>> {
  const { context, release } = options ? await ownContext(browser, options) : await sharedContext(browser)
  const page = await context.newPage()
  page.setDefaultTimeout(90_000)
  const problems: string[] = []
  const origins = new Set<string>()
  watched.set(page, { problems, origins })
  onTestFinished(() => release(origins))
  const sizes: Promise<number>[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  page.on('requestfinished', (request) => {
    if (/\/assets\/|\/$/.test(request.url())) sizes.push(sizeOf(request))
  })
  const prepared = (await prepare?.(page)) as T // without `prepare`, no test reads it
  await page.goto(url + path)
  const bytes = async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  return { page, prepared, problems, origins, bytes }
}

/** Returns 0 if the page is closed before the browser reports the size. */
function sizeOf(request: Request): Promise<number> {
  return request.sizes().then(
    ({ responseBodySize }) => responseBodySize,
    () => 0,
  )
}

/** The page did nothing that its policy forbids, called only its gateway, and got no bad status except these. */
export function expectNoErrors(page: Page, ...statuses: number[]): void {
  const { problems, origins } = watched.get(page)!
  expect(problems.filter((problem) => !statuses.some((status) => problem.includes(`status of ${status}`)))).toEqual([])
  expect([...origins]).toEqual([new URL(page.url()).origin])
}

/** Checks the current page in both colours, on a desktop and on a phone: it is accessible and not too wide. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0)
  for (const [colorScheme, device, size] of APPEARANCES) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(size)
    await picture(page, `${name}-${colorScheme}-${device}`)
    expect(await violationsOf(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  }
  await page.setViewportSize(DESKTOP)
}

/** Uses no second page and collects violations only, which takes a third of the time. */
async function violationsOf(page: Page): Promise<[id: string, html: string[]][]> {
  // The script, which is a megabyte, is not sent to a document that has it.
  const hasScript = await page.evaluate(() => 'axe' in window)
  const builder = new AxeBuilder({ page, ...(hasScript && { axeSource: 'void 0' }) })
  const axe = builder.setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
}

async function picture(page: Page, name: string): Promise<void> {
  if (!process.env.PICTURES) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true })
}

/** Presses the button with exactly this name. */
export const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

export async function useKey(page: Page, key: string): Promise<void> {
  await click(page, 'Use a key')
  await page.getByLabel('Paste a key').fill(key)
  await click(page, 'Use this key')
}

/** Files of every kind that the viewer shows; most of them contain something that tries to run. */
export const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url))

/** Drops files and folders on the files of a locker, as from the desktop. */
export async function dropPaths(page: Page, paths: readonly string[]): Promise<void> {
  const folder = folderOnDisk(page)
  const copies = paths.map((path) => join(folder, basename(path)))
  for (const [i, copy] of copies.entries()) cpSync(paths[i]!, copy, { recursive: true })
  const session = await page.context().newCDPSession(page)
  const { x, y, width } = (await page.locator('.files').boundingBox())!
  const data = { items: [], files: copies, dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + 40, data })
}

/** Chromium accepts no file under /dev, where temporary files may be. */
function folderOnDisk(page: Page): string {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'dropped-'))
  page.once('close', () => rmSync(folder, { recursive: true }))
  return folder
}
