// Which packages are published: those that people install, and our own packages that these depend on.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const INSTALLED_BY_PEOPLE = ['protocol', 'verifier', 'sdk', 'cli', 'mcp']

interface Manifest {
  name: string
  description?: string
  license?: string
  bin?: Record<string, string>
  /** By condition, where there are several. */
  imports?: Record<string, Record<string, string>>
  exports: Record<string, string>
  dependencies?: Record<string, string>
}

export interface SourcePackage {
  /** Without the scope. */
  name: string
  /** Its folder, relative to the root. */
  home: string
  manifest: Manifest
}

export function publishedPackages(root: string): SourcePackage[] {
  const all = new Map(workspaces(root).map((found) => [found.name, found]))
  const published = new Map<string, SourcePackage>()

  function add(name: string): void {
    const found = all.get(name)
    if (!found) throw new Error(`there is no package ${name}`)
    if (published.has(name)) return
    published.set(name, found)
    for (const dependency of Object.keys(found.manifest.dependencies ?? {})) {
      if (dependency.startsWith('@svc/')) add(withoutScope(dependency))
    }
  }

  for (const name of INSTALLED_BY_PEOPLE) add(name)
  return [...published.values()]
}

function workspaces(root: string): SourcePackage[] {
  return globSync('{packages,apps}/*/package.json', { cwd: root }).map((file) => {
    const manifest = JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest
    return { name: withoutScope(manifest.name), home: dirname(file), manifest }
  })
}

function withoutScope(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}
