import { matchesGlob } from 'node:path'

/** A pattern with `/` is held against the whole name, one without against each part of it: `.*`, `*.tmp`, `build`. */
export function excluder(patterns: readonly string[]): (name: string) => boolean {
  return (name) =>
    patterns.some((pattern) => {
      if (pattern.includes('/')) return matchesGlob(name, pattern)
      return name.split('/').some((part) => matchesGlob(part, pattern))
    })
}
