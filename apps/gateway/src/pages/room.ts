import { VERSION } from '@svc/protocol/version'
import type { Context } from '../context.ts'
import { type BuiltPages, readBuiltPages } from './built-pages.ts'

export interface PagesContext extends Context {
  /** Null where they are not built: the gateway then serves its interface only. */
  pages: BuiltPages | null
}

export function createPages(context: Context): PagesContext {
  const { config, log } = context
  const { folder } = config.pages
  const pages = readBuiltPages(folder)
  if (!pages) log.warn({ folder }, 'the web pages are not built: the interface is served without them; npm run build')
  else if (pages.version !== VERSION)
    log.warn({ folder, version: pages.version }, 'the web pages are of another version: npm run build')
  return { ...context, pages }
}
