// Declared paths (`/v1/lockers/{locker_id}`) in the router's notation, and which methods a path answers.

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
 * Values of the path. The rest of a path is taken from what came over the wire, each segment decoded once: the
 * router has its own ideas about which encodings to undo, and when.
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

/** Also of a target in the form that is sent to proxies, `http://host/path`, which every server takes (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/, 1)
  return path
}
