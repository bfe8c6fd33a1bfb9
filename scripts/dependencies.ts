// `node scripts/dependencies.ts` updates docs/dependencies.md: the users of each dependency and its installed size. The
// reasons are written by hand. With `--check` it writes nothing and fails when the page is out of date, except for
// sizes, which depend on the machine.

import { globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const PAGE = 'docs/dependencies.md'
const NODE = 'scripts/node/package.json'
const OWN = '@svc/'
/** A row may name several packages that are there for one reason. */
const ROW = /^\| (`[^`|]+`(?:, `[^`|]+`)*) \|[^|]*\|([^|]*)\| (.*) \|$/

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const isCheck = process.argv.includes('--check')
const users = findUsers()
const lines = readFileSync(PAGE, 'utf8').split('\n')
const listed = new Set(lines.flatMap((line) => namesIn(ROW.exec(line)?.[1])))
const problems = [
  ...[...users.keys()].filter((name) => !listed.has(name)).map((name) => `${PAGE} gives no reason for ${name}`),
  ...[...listed].filter((name) => !users.has(name)).map((name) => `${PAGE} lists ${name}, which no workspace uses`),
]
const costOf = isCheck ? null : costs()
const filled = lines.map((line) => {
  const [, cell = '', cost = '', why = ''] = ROW.exec(line) ?? []
  const names = namesIn(cell)
  const all = [...new Set(names.flatMap((name) => users.get(name) ?? []))]
  const places = all.filter((place) => !all.includes(place.replaceAll('*', '')) || !place.startsWith('*'))
  return places.length > 0 ? `| ${cell} | ${places.join(', ')} | ${costOf?.(names) ?? cost.trim()} | ${why} |` : line
})
const page = filled.join('\n')
if (isCheck && page !== lines.join('\n')) problems.push(`${PAGE} is out of date: run node scripts/dependencies.ts`)
for (const problem of problems) console.error(problem)
if (!isCheck) writeFileSync(PAGE, page)
process.exit(problems.length > 0 ? 1 : 0)

/** The packages that the first cell of a row names; of other tables nothing that a workspace uses. */
function namesIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string)
}

/** The workspaces that declare a dependency; in italics if only their development needs it. */
function findUsers(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of ['package.json', NODE, ...workspaces()].toSorted()) {
    const { dependencies, optionalDependencies, devDependencies } = manifest(dirname(file))
    const place = file === 'package.json' || file === NODE ? 'root' : basename(dirname(file))
    for (const name of Object.keys({ ...devDependencies, ...dependencies, ...optionalDependencies }).toSorted()) {
      if (name.startsWith(OWN)) continue
      const isUsed = dependencies?.[name] !== undefined || optionalDependencies?.[name] !== undefined
      found.set(name, [...(found.get(name) ?? []), isUsed ? place : `*${place}*`])
    }
  }
  return found
}

function workspaces(): string[] {
  const { workspaces } = JSON.parse(readFileSync('package.json', 'utf8')) as { workspaces: string[] }
  return workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`))
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** The installed size that dependencies add: their own, and the sizes of packages that only they need. */
function costs(): (names: readonly string[]) => string {
  const roots = ['.', ...workspaces().map(dirname)]
  const all = reachable(roots, [])
  return (names) => {
    const without = reachable(roots, names)
    const removed = [...all].filter((folder) => !without.has(folder))
    const megabytes = removed.reduce((sum, folder) => sum + folderBytes(folder), 0) / 1e6
    const others = removed.length > names.length ? ` (${removed.length})` : ''
    return `${megabytes < 10 ? megabytes.toFixed(1) : megabytes.toFixed(0)}${others}`
  }
}

/** The folders of all packages that the workspaces need, if they did not declare `excluded`. */
function reachable(roots: readonly string[], excluded: readonly string[]): Set<string> {
  const visited = new Set<string>()
  const open = [...roots]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const isRoot = roots.includes(folder)
    const { dependencies, optionalDependencies, peerDependencies, devDependencies } = manifest(folder)
    const wanted = { ...dependencies, ...optionalDependencies, ...peerDependencies, ...(isRoot && devDependencies) }
    for (const name of Object.keys(wanted)) {
      if (name.startsWith(OWN) || (isRoot && excluded.includes(name))) continue
      const found = installed(name, folder)
      if (found === null || visited.has(found)) continue
      visited.add(found)
      open.push(found)
    }
  }
  return visited
}

/** Finds a package as Node does; null for an optional one that does not support this machine. */
function installed(name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name)
    if (statSync(join(place, 'package.json'), { throwIfNoEntry: false })) return place
    if (folder === '.') return null
  }
}

/** The size of a package without the packages installed below it. */
function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : folderBytes(path)
    else if (entry.isFile()) bytes += statSync(path).size
  }
  return bytes
}
