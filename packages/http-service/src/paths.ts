// Declared paths (`/v1/lockers/{locker_id}`) in the router's notation, and the methods that a path has.

export interface PathMatcher {
  add(method: string, path: string): void
  methodsAt(target: string): string[]
}

export function pathMatcher(): PathMatcher {
  const patterns: { method: string; pattern: RegExp }[] = []
  return {
    add(method, path) {
      const source = path
        .replace(/[.]/g, '\\.')
        .replace(/\{\w+\}/g, '[^/]+')
        .replace(/\{\+\w+\}$/, '.+')
      patterns.push({ method, pattern: new RegExp(`^${source}$`) })
    },
    methodsAt(target) {
      const path = pathOf(target)
      const methods = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
      return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
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

/** Accepts the form that is sent to proxies, `http://host/path`, as every server must (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/, 1)
  return path
}
