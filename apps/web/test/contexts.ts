// For tests: contexts of a browser. A new one starts processes, for a second or more; most visits do with one that an
// earlier visit has left, from which all that a page can keep is cleared.

import type { Browser, BrowserContext, BrowserContextOptions, CDPSession } from 'playwright'

export const DESKTOP = { width: 1280, height: 900 }

interface Lease {
  context: BrowserContext
  /** Closes all pages of the visit, which sent requests to these origins. */
  release(origins: Iterable<string>): Promise<void>
}

interface Shared {
  context: BrowserContext
  /** To a page that stays open, and with it the process of all pages. */
  session: CDPSession
}

const free = new WeakMap<Browser, Shared[]>()

export async function ownContext(browser: Browser, options: BrowserContextOptions): Promise<Lease> {
  const context = await openContext(browser, options)
  return { context, release: () => context.close() }
}

/** No other visit uses it until it is released. */
export async function sharedContext(browser: Browser): Promise<Lease> {
  const left = free.get(browser) ?? []
  free.set(browser, left)
  const shared = left.pop() ?? (await openShared(browser))
  const { context } = shared
  return {
    context,
    async release(origins) {
      const [, ...pages] = context.pages()
      for (const page of pages) await page.close()
      await clear(shared, origins)
      left.push(shared)
    },
  }
}

async function openShared(browser: Browser): Promise<Shared> {
  const context = await openContext(browser, {})
  return { context, session: await context.newCDPSession(await context.newPage()) }
}

function openContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  return browser.newContext({ reducedMotion: 'reduce', viewport: DESKTOP, ...options })
}

async function clear({ context, session }: Shared, origins: Iterable<string>): Promise<void> {
  for (const origin of origins) {
    if (origin.startsWith('http')) await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  }
  await session.send('Network.clearBrowserCache')
  await context.clearCookies()
}
