// `npm run build:production`: builds only what a machine needs to run the services and the command line, in
// `dist/production`. Programs are bundles; packages that cannot be bundled are copied from node_modules. Stubs replace
// the sources of programs and threads of a checkout, so that every file has the same path in both.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OutputChunk, type Plugin, writeBundle } from '@svc/devnet/bundling/bundler'
import { builtFile } from '@svc/service/program/bundle'
import { ensurePages, newestBuild } from '@svc/web/build'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const APPS = ['gateway', 'agent', 'witness', 'cli']
const PROGRAMS = [
  'apps/gateway/src/bin/svc-gateway.ts',
  'apps/gateway/src/main.ts',
  'apps/agent/src/main.ts',
  'apps/witness/src/main.ts',
  'apps/cli/src/bin/svc.ts',
  'packages/service/src/program/bundle.ts',
]
const COPIED = ['LICENSE', 'scripts/launch.mjs', ...APPS.map((app) => `apps/${app}/bin`)]

export async function buildProduction(target: string): Promise<void> {
  if (!(await ensurePages(console.log))) throw new Error('the web pages could not be built')
  rmSync(target, { recursive: true, force: true })
  const sources = new Set(PROGRAMS)
  const chunks = await writeBundle({
    input: Object.fromEntries(PROGRAMS.map((source) => [nameOf(source), join(ROOT, source)])),
    dir: join(target, 'built'),
    urlOf: (source) => `new URL(${JSON.stringify(`../${relative(ROOT, source)}`)}, import.meta.url).href`,
    pathOf: (source) => `(import.meta.dirname + ${JSON.stringify(`/../${relative(ROOT, source)}`)})`,
    plugins: [bundleNamedFiles(sources)],
  })
  for (const source of sources) writeStub(target, source)
  for (const path of [...COPIED, ...builtPages()]) cpSync(join(ROOT, path), join(target, path), { recursive: true })
  const copied = packageClosure(externalPackages(chunks), ROOT)
  for (const folder of copied) copyPackage(folder, target)
  writeFileSync(join(target, 'package.json'), '{ "name": "svc", "private": true, "type": "module" }\n')
  const all = [...copied, ...bundledPackages(chunks), ...pagePackages()]
  writeFileSync(join(target, 'sbom.cdx.json'), billOfMaterials(all))
}

/** The newest build; older ones may exist for gateways that still use them. */
function builtPages(): string[] {
  const folder = newestBuild()?.folder ?? '' // ensurePages has just built them
  return [`apps/web/dist/${folder}`, 'apps/web/dist/newest.json']
}

/** Bundles threads and other programs, which code names as `new URL('./thread.ts', import.meta.url)`. */
function bundleNamedFiles(sources: Set<string>): Plugin {
  return {
    name: 'bundle-named-files',
    transform(code, id) {
      if (id.includes('/node_modules/')) return null
      for (const [, path = ''] of code.matchAll(/new URL\('([^']+\.ts)', import\.meta\.url\)/g)) {
        const source = relative(ROOT, resolve(dirname(id), path))
        if (sources.has(source)) continue
        sources.add(source)
        this.emitFile({ type: 'chunk', id: join(ROOT, source), fileName: basename(builtFile(source)) })
      }
      return null
    },
  }
}

function nameOf(source: string): string {
  return basename(builtFile(source), '.mjs')
}

function writeStub(target: string, source: string): void {
  const stub = join(target, source)
  mkdirSync(dirname(stub), { recursive: true })
  const bundle = relative(dirname(source), builtFile(source))
  writeFileSync(stub, `export * from ${JSON.stringify(bundle)}\n`)
}

/** The names of the packages that the bundles import at run time. */
function externalPackages(chunks: OutputChunk[]): string[] {
  const own = new Set(chunks.map(({ fileName }) => fileName))
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
  const names = imports
    .filter((name) => !own.has(name) && !name.startsWith('node:') && !builtinModules.includes(name))
    .map((name) => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] as string) // an import is never empty
  return [...new Set(names)]
}

interface Manifest {
  name: string
  version: string
  license?: unknown
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** The folders of these packages and of all their dependencies. */
function packageClosure(names: string[], home: string, { withOptional = true } = {}): Set<string> {
  const folders = new Set<string>()
  function add(name: string, from: string, isOptional: boolean): void {
    const folder = findPackage(name, from)
    if (folder === null && !isOptional) throw new Error(`${name}, which ${from} depends on, is not installed`)
    if (folder === null || folders.has(folder)) return
    folders.add(folder)
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    for (const dependency of Object.keys(manifest.dependencies ?? {})) add(dependency, folder, false)
    if (!withOptional) return
    for (const dependency of Object.keys(manifest.optionalDependencies ?? {})) add(dependency, folder, true)
  }
  for (const name of names) add(name, home, false)
  return folders
}

/** The packages of the web pages, including the ones that they share with the programs. */
function pagePackages(): Set<string> {
  const home = join(ROOT, 'apps/web')
  const { dependencies = {} }: Manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const names = Object.keys(dependencies).filter((name) => name !== 'vite' && !name.startsWith('@svc/'))
  return packageClosure(names, home, { withOptional: false })
}

/** Finds a package as Node does; null if it is not installed. */
function findPackage(name: string, from: string): string | null {
  for (let folder = resolve(from); folder.startsWith(resolve(ROOT)); folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
  }
  return null
}

/** Copies a package without files that only people and compilers read. Packages inside it are copied separately. */
function copyPackage(folder: string, target: string): void {
  cpSync(folder, join(target, relative(ROOT, folder)), {
    recursive: true,
    dereference: true,
    filter: (file) => !isUnused(relative(folder, file), statSync(file).isDirectory()),
  })
}

function isUnused(file: string, isFolder: boolean): boolean {
  if (isFolder) return /(^|\/)(node_modules|tests?|docs?|example|examples)$/.test(file)
  return /\.(d\.[cm]?ts|ts|map|md|markdown)$/i.test(file) && !/licen[cs]e|notice/i.test(file)
}

/** The bill of materials in CycloneDX format: all packages of this tree, bundled or copied. */
function billOfMaterials(folders: Iterable<string>): string {
  const packages = [...folders].map(
    (folder): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  )
  const components = packages.map(({ name, version, license }) => ({
    type: 'library',
    'bom-ref': purl(name, version),
    name,
    version,
    purl: purl(name, version),
    ...(typeof license === 'string' && { licenses: [{ expression: license }] }),
  }))
  const unique = new Map(components.map((component) => [component.purl, component]))
  const sorted = [...unique.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1))
  const metadata = { component: { type: 'application', name: 'svc' } }
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components: sorted }, null, 1)}\n`
}

function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** The folders of the packages in the bundles. */
function bundledPackages(chunks: OutputChunk[]): string[] {
  return chunks
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => id.match(/^.*\/node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? [])
}

/** The total size of all files below a folder. */
export function treeBytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

if (import.meta.main) {
  const target = join(ROOT, 'dist/production')
  await buildProduction(target)
  console.log(`${target}: ${Math.ceil(treeBytes(target) / 1e6)} MB`)
}
