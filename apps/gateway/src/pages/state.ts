import { VERSION } from '@svc/protocol/version'
import type { Context } from '../context.ts'
import { type BuiltPages, readBuiltPages } from './built-pages.ts'

interface PagesState {
  /** Null where they are not built: the gateway then serves its interface only. */
  pages: BuiltPages | null
}

declare module '../context.ts' {
  interface Context extends PagesState {}
}

export function openPages({ config, log }: Context): PagesState {
  const { folder } = config.pages
  const pages = readBuiltPages(folder)
  if (!pages) log.warn({ folder }, 'the web pages are not built: the interface is served without them; npm run build')
  else if (pages.version !== VERSION)
    log.warn({ folder, version: pages.version }, 'the web pages are of another version: npm run build')
  return { pages }
}
