// For tests: browser contexts. A new one starts processes, which takes a second or more. So most visits reuse the
// context of an earlier visit, after everything that a page can store is cleared.

import type { Browser, BrowserContext, BrowserContextOptions, CDPSession } from 'playwright'

export const DESKTOP = { width: 1280, height: 900 }

interface Lease {
  context: BrowserContext
  /** Closes all pages of the visit, which sent requests to these origins. */
  release(origins: Iterable<string>): Promise<void>
}

interface Shared {
  context: BrowserContext
  /** The session of a page that stays open, so that the process of all pages continues. */
  session: CDPSession
}

const free = new WeakMap<Browser, Shared[]>()

export async function ownContext(browser: Browser, options: BrowserContextOptions): Promise<Lease> {
  const context = await openContext(browser, options)
  return { context, release: () => context.close() }
}

/** A context that no other visit uses until it is released. */
export async function sharedContext(browser: Browser): Promise<Lease> {
  const unused = free.get(browser) ?? []
  free.set(browser, unused)
  const shared = unused.pop() ?? (await openShared(browser))
  const { context } = shared
  return {
    context,
    async release(origins) {
      const [, ...pages] = context.pages()
      for (const page of pages) await page.close()
      await clear(shared, origins)
      unused.push(shared)
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
