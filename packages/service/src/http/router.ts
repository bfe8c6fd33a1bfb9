// Finds the route of a request. Declared paths are `/v1/lockers/{locker_id}`; the router writes `:locker_id`, and `*`
// for the rest of a path (`{+filename}`).

import type { UploadAdvice } from '@svc/api/endpoint'
import createFinder from 'find-my-way'
import { MAX_HEAD_BYTES } from './server.ts'
import type { HttpRequest } from './wire-request.ts'

export interface Route {
  method: string
  /** As declared. A GET route also answers HEAD. */
  path: string
  /** Null when the handler reads the body itself. Other routes get it complete. */
  maxBodyBytes: number | null
  /** The advice for a failed upload; null for other routes. */
  upload?: UploadAdvice | null | undefined
  /** Extra headers on the route's errors. */
  errorHeaders?: Readonly<Record<string, string>> | undefined
  handle(request: HttpRequest): void | Promise<void>
}

interface Found {
  route: Route & { routerPath: string }
  params: Record<string, string>
  /** The text after the question mark. */
  search: string
}

export interface Router {
  add(route: Route): void
  /** Null when no route matches. */
  find(method: string, target: string): Found | 'malformed' | null
  /** The methods of a path, without OPTIONS, which every path answers. */
  methodsAt(target: string): string[]
  /** Null for routes that are not uploads. */
  uploadAt(method: string, target: string): UploadAdvice | null
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

export function createRouter(): Router {
  const finder = createFinder({
    maxParamLength: MAX_HEAD_BYTES,
    // Most routes have no query; the others parse it themselves.
    querystringParser: (text) => text,
    onBadUrl: NEVER_CALLED,
  })

  function find(method: string, target: string): Found | 'malformed' | null {
    const found = finder.find(method as createFinder.HTTPMethod, target) // null for an unknown method
    if (found === null) return null
    const { store, params, searchParams } = found
    if (store === null) return 'malformed'
    // `/things/` would be `/things/{name}` with an empty name, which no endpoint means.
    for (const name in params) if (params[name] === '') return null
    return { route: store, params: params as Record<string, string>, search: searchParams as unknown as string }
  }

  return {
    add(route) {
      const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
      const path = routerPath(route.path)
      finder.on(methods as createFinder.HTTPMethod[], path, NEVER_CALLED, { ...route, routerPath: path })
    },
    find,
    methodsAt: (target) => METHODS.filter((method) => find(method, target) !== null),
    uploadAt(method, target) {
      const found = find(method, target)
      return (found !== null && found !== 'malformed' && found.route.upload) || null
    },
  }
}

/** Handlers are started by `find`. */
const NEVER_CALLED = () => {}

export function routerPath(path: string): string {
  return path.replace(/\{\+\w+\}$/, '*').replace(/\{(\w+)\}/g, ':$1')
}

export type PathValues = Readonly<Record<string, string>>

/**
 * Reads the values of a path. The rest of a path (`{+filename}`) comes from the raw target, each segment decoded once,
 * because the router does not decode every encoding the same way.
 */
export function pathValues(path: string): (params: PathValues, target: string) => PathValues {
  const rest = /\{\+(\w+)\}$/.exec(path)?.[1]
  if (!rest) return (params) => params
  const segmentsBefore = path.split('/').length - 1
  return (params, target) => {
    const { '*': _, ...values } = params
    const segments = pathOf(target).split('/').slice(segmentsBefore)
    return { ...values, [rest]: segments.map(decodeURIComponent).join('/') }
  }
}

/** Accepts the proxy form `http://host/path`, as every server must (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/, 1)
  return path
}
