// The published packages: the ones that people install. Each contains the workspace packages that it needs, so that one
// file installs it.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const INSTALLED_BY_PEOPLE = ['protocol', 'api', 'verifier', 'sdk', 'cli']

interface Manifest {
  name: string
  description?: string
  license?: string
  bin?: Record<string, string>
  /** By condition if there are several. */
  imports?: Record<string, Record<string, string>>
  exports: Record<string, string>
  dependencies?: Record<string, string>
}

export interface SourcePackage {
  /** The name without the scope. */
  name: string
  /** Its folder, relative to the root. */
  home: string
  manifest: Manifest
}

export interface PublishedPackage extends SourcePackage {
  /** The workspace packages inside it. */
  bundled: SourcePackage[]
}

/** npx runs the command that is named like its package, so the package with commands is named like the first of them. */
export function publishedName({ manifest: { name, bin = {} } }: SourcePackage): string {
  const [command] = Object.keys(bin)
  return command ? `@svc/${command}` : name
}

export function publishedPackages(root: string): PublishedPackage[] {
  const all = new Map(workspaces(root).map((found) => [found.name, found]))

  function find(name: string): SourcePackage {
    const found = all.get(name)
    if (!found) throw new Error(`unknown package: ${name}`)
    return found
  }

  function addNeeded(source: SourcePackage, needed: Set<SourcePackage>): Set<SourcePackage> {
    for (const dependency of Object.keys(source.manifest.dependencies ?? {})) {
      if (!dependency.startsWith('@svc/')) continue
      const found = find(withoutScope(dependency))
      if (needed.has(found)) continue
      needed.add(found)
      addNeeded(found, needed)
    }
    return needed
  }

  return INSTALLED_BY_PEOPLE.map(find).map((source) => ({ ...source, bundled: [...addNeeded(source, new Set())] }))
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
