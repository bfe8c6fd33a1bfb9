import { VERSION } from '@svc/protocol/version'
import type { Context } from '../context.ts'
import { type BuiltPages, readBuiltPages } from './built-pages.ts'

interface PagesState {
  /** Null when they are not built: the gateway then serves its API only. */
  pages: BuiltPages | null
}

declare module '../context.ts' {
  interface Context extends PagesState {}
}

export function openPages({ config, log }: Context): PagesState {
  const { folder } = config.pages
  const pages = readBuiltPages(folder)
  if (!pages) log.warn({ folder }, 'the web pages are not built, so only the API is served; run npm run build')
  else if (pages.version !== VERSION)
    log.warn({ folder, version: pages.version }, 'the web pages were built by another version; run npm run build')
  return { pages }
}
