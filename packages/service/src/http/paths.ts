// Declared paths (`/v1/lockers/{locker_id}`) in the router's notation, and what is declared at a path.

import type { UploadAdvice } from '@svc/api/endpoint'

export interface PathMatcher {
  add(method: string, path: string, upload?: UploadAdvice | null): void
  methodsAt(target: string): string[]
  /** Null for what is no upload. */
  uploadAt(method: string, target: string): UploadAdvice | null
}

export function pathMatcher(): PathMatcher {
  const patterns: { method: string; pattern: RegExp; upload: UploadAdvice | null }[] = []
  return {
    add(method, path, upload = null) {
      const source = path
        .replace(/[.]/g, '\\.')
        .replace(/\{\w+\}/g, '[^/]+')
        .replace(/\{\+\w+\}$/, '.+')
      patterns.push({ method, pattern: new RegExp(`^${source}$`), upload })
    },
    methodsAt(target) {
      const path = pathOf(target)
      const methods = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
      return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
    },
    uploadAt(method, target) {
      const declared = method === 'HEAD' ? 'GET' : method
      const path = routedPath(target)
      const isHere = (one: (typeof patterns)[number]) => one.method === declared && one.pattern.test(path)
      return patterns.find((one) => one.upload !== null && isHere(one))?.upload ?? null
    },
  }
}

export function routerPath(path: string): string {
  return path.replace(/\{\+\w+\}$/, '*').replace(/\{(\w+)\}/g, ':$1')
}

/**
 * Reads the values of a path. The rest of a path (`{+filename}`) comes from the raw target, each segment decoded once,
 * because the router does not decode every encoding the same way.
 */
export function pathValues(path: string): (params: unknown, target: string) => Record<string, string> {
  const rest = /\{\+(\w+)\}$/.exec(path)?.[1]
  if (!rest) return (params) => params as Record<string, string>
  const segmentsBefore = path.split('/').length - 1
  return (params, target) => {
    const { '*': _, ...values } = params as Record<string, string>
    const segments = pathOf(target).split('/').slice(segmentsBefore)
    return { ...values, [rest]: segments.map(decodeURIComponent).join('/') }
  }
}

/** As the router reads it: it decodes what may be decoded before it looks for slashes. */
function routedPath(target: string): string {
  const path = pathOf(target)
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Accepts the form that is sent to proxies, `http://host/path`, as every server must (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/, 1)
  return path
}
