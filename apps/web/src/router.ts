// Finds the page of a path.

import { currentPath, navigate, ROOT_URL, safeDecode } from './address.ts'
import { ROUTES, type Route } from './routes.ts'

export interface Match {
  route: Route
  params: Record<string, string>
}

export function matchPath(path: string): Match | null {
  for (const route of ROUTES) {
    const found = patternOf(route.path).exec(path)
    if (found) return { route, params: decoded(found.groups ?? {}) }
  }
  return null
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\+(\w+)\}$/, '(?<$1>.+)').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`)
}

function decoded(groups: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, value]) => [name, value.split('/').map(safeDecode).join('/')]),
  )
}

/** Follows links between our pages; the browser follows other links and links into a new tab. */
export function followLinks(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute('download')) return
  const to = new URL(link.href)
  if (!to.href.startsWith(ROOT_URL.href) || to.search) return
  const path = `/${to.pathname.slice(ROOT_URL.pathname.length)}`
  // Within a page, the browser itself follows the hash and fires an event.
  if (path === currentPath.value && to.hash) return
  // A page with another policy needs a new document.
  const match = matchPath(path)
  if (!match || match.route.policy !== matchPath(currentPath.value)?.route.policy) return
  event.preventDefault()
  navigate(path + to.hash)
}
