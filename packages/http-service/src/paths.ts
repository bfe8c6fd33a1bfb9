// Declared paths (`/v1/lockers/{locker_id}`) in the router's notation, and which methods a path answers.

export interface PathMatcher {
  add(method: string, path: string): void
  methodsAt(target: string): string[]
}

export function pathMatcher(): PathMatcher {
  const patterns: { method: string; pattern: RegExp }[] = []
  return {
    add(method, path) {
      const source = path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')
      patterns.push({ method, pattern: new RegExp(`^${source}$`) })
    },
    methodsAt(target) {
      const path = target.split('?', 1)[0] as string
      const methods = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
      return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
    },
  }
}

export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
