import { VERSION } from '@svc/protocol/version'
import type { Context } from '../context.ts'
import { type BuiltPages, readBuiltPages } from './built-pages.ts'

export interface PagesContext extends Context {
  /** Null where they are not built: the gateway then serves its interface only. */
  pages: BuiltPages | null
}

/** The page that shows a file, as `apps/web` declares it. */
const VIEWER = '/view/{receipt_id}/{+filename}'

/** Where people look at a file of a public link: on the page for that, or, where it is not built, the bytes themselves. */
export function viewerUrl({ config, pages }: PagesContext, linkId: string, filename: string): string {
  const name = filename.split('/').map(encodeURIComponent).join('/')
  const hasViewer = pages?.pages.some(({ path }) => path === VIEWER)
  return `${config.http.baseUrl}${hasViewer ? `/view/${linkId}/${name}` : `/v1/r/${linkId}/f/${name}`}`
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
