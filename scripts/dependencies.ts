// `node scripts/dependencies.ts` fills in docs/dependencies.md: who uses each dependency, and what it costs installed. Why
// it is there is written by hand in the page. With `--check` it writes nothing and fails when the page is out of date;
// sizes depend on the machine and are left alone then.

import { globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const PAGE = 'docs/dependencies.md'
const NODE = 'scripts/node/package.json'
const OWN = '@svc/'
const ROW = /^\| `([^`]+)` \|[^|]*\|([^|]*)\| (.*) \|$/

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const isCheck = process.argv.includes('--check')
const users = findUsers()
const lines = readFileSync(PAGE, 'utf8').split('\n')
const listed = new Set(lines.flatMap((line) => ROW.exec(line)?.[1] ?? []))
const problems = [
  ...[...users.keys()].filter((name) => !listed.has(name)).map((name) => `${PAGE} does not say why ${name} is there`),
  ...[...listed].filter((name) => !users.has(name)).map((name) => `${PAGE} names ${name}, which nobody uses`),
]
const costOf = isCheck ? null : costs()
const filled = lines.map((line) => {
  const [, name = '', cost = '', why = ''] = ROW.exec(line) ?? []
  const names = users.get(name)
  return names ? `| \`${name}\` | ${names.join(', ')} | ${costOf?.(name) ?? cost.trim()} | ${why} |` : line
})
const page = filled.join('\n')
if (isCheck && page !== lines.join('\n')) problems.push(`${PAGE} is out of date: node scripts/dependencies.ts`)
for (const problem of problems) console.error(problem)
if (!isCheck) writeFileSync(PAGE, page)
process.exit(problems.length > 0 ? 1 : 0)

/** The workspaces that name a dependency; in italics where only their development needs it. */
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

/** What would not be installed without a dependency: itself, and what nobody else needs. */
function costs(): (name: string) => string {
  const roots = ['.', ...workspaces().map(dirname)]
  const all = reachable(roots, null)
  return (name) => {
    const without = reachable(roots, name)
    const gone = [...all].filter((folder) => !without.has(folder))
    const megabytes = gone.reduce((sum, folder) => sum + folderBytes(folder), 0) / 1e6
    const others = gone.length > 1 ? ` (${gone.length})` : ''
    return `${megabytes < 10 ? megabytes.toFixed(1) : megabytes.toFixed(0)}${others}`
  }
}

/** Folders of packages that are found from the workspaces, when these do not name one of them. */
function reachable(roots: readonly string[], left: string | null): Set<string> {
  const seen = new Set<string>()
  const open = [...roots]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const isRoot = roots.includes(folder)
    const { dependencies, optionalDependencies, peerDependencies, devDependencies } = manifest(folder)
    const wanted = { ...dependencies, ...optionalDependencies, ...peerDependencies, ...(isRoot && devDependencies) }
    for (const name of Object.keys(wanted)) {
      if (name.startsWith(OWN) || (isRoot && name === left)) continue
      const found = installed(name, folder)
      if (found === null || seen.has(found)) continue
      seen.add(found)
      open.push(found)
    }
  }
  return seen
}

/** As Node finds it; null for an optional one that is not for this machine. */
function installed(name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name)
    if (statSync(join(place, 'package.json'), { throwIfNoEntry: false })) return place
    if (folder === '.') return null
  }
}

/** Without what is installed below it. */
function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : folderBytes(path)
    else if (entry.isFile()) bytes += statSync(path).size
  }
  return bytes
}
