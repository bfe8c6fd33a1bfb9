// Which modules may import which. `npm run check` fails on an import that is not in these tables, on an arrow in them that no
// import uses, and on files that import each other in a circle.

import { existsSync, globSync, readFileSync } from 'node:fs'

/** What each place may import. */
type Arrows = Readonly<Record<string, readonly string[]>>

const PACKAGES: Arrows = {
  protocol: [],
  api: ['protocol'],
  verifier: ['protocol'],
  payments: ['api', 'concurrency', 'protocol', 'service'],
  concurrency: [],
  database: ['concurrency', 'protocol'],
  s3: ['protocol'],
  storage: ['api', 'concurrency', 'protocol', 's3', 'service'],
  // Its servers; `services` also boots the apps, for `npm start` and for tests.
  devnet: [
    'agent',
    'api',
    'concurrency',
    'database',
    'gateway',
    'payments',
    'protocol',
    's3',
    'service',
    'storage',
    'web',
    'witness',
  ],
  contracts: [],
  service: ['api', 'concurrency', 'database', 'protocol'],
  gateway: ['api', 'concurrency', 'contracts', 'database', 'payments', 'protocol', 's3', 'service', 'storage'],
  agent: ['api', 'concurrency', 'database', 'payments', 'protocol', 'sdk', 'service'],
  witness: ['api', 'concurrency', 'database', 'payments', 'protocol', 'service', 'verifier'],
  sdk: ['api', 'concurrency', 'protocol'],
  cli: ['api', 'concurrency', 'protocol', 'sdk', 'service', 'verifier'],
  web: ['api', 'protocol', 'sdk', 'verifier'],
  acceptance: ['api', 'protocol', 'sdk'],
  bench: ['api', 'concurrency', 'database', 'devnet', 'gateway', 'protocol', 'storage', 'verifier'],
  fuzz: ['api', 'devnet', 'protocol', 's3', 'sdk', 'verifier'],
}

/**
 * The floors of the gateway, from the top down: rooms, and files at the root. Each imports from the floors below it only,
 * and nobody uses what a floor above keeps on the context.
 */
const FLOORS = [
  'main.ts',
  'bin',
  'gateway.ts',
  'wire.ts',
  'open-tools.ts',
  'jobs',
  'views',
  'publication',
  'evidence',
  'adapters',
  'files',
  'purchases',
  'lockers',
  'pages',
  'budgets',
  'auth',
  'keys',
  'continuity',
  'db',
  'renamed-settings.ts',
  'settings.ts',
]

/** Inside the agent service; the files at its root wire the rooms together. */
const AGENT: Arrows = {
  db: [],
  callers: [],
  info: [],
  gateway: ['db'],
  subscriptions: ['callers', 'db'],
  delegations: ['callers', 'db', 'gateway', 'subscriptions', 'work'],
  work: ['db', 'subscriptions'],
}

/** Inside a witness; the files at its root wire the rooms together. */
const WITNESS: Arrows = {
  db: [],
  logs: [],
  alarms: ['db'],
  witness: ['alarms', 'db'],
  monitor: ['alarms', 'db', 'witness'],
  info: ['alarms', 'db', 'monitor'],
  bin: ['create-context.ts', 'monitor', 'start-witness.ts'],
}

/** What every room works with; they are made of what the rooms declare. */
const TOOLS = ['config.ts', 'context.ts']

/** What every test works with, besides its own package. */
const TEST_PACKAGES = ['devnet', 'verifier', 'storage']

/** Where the browser is, also for programs that are run by hand. */
const CHROMIUM = 'scripts/chromium.ts'

const GATEWAY = 'apps/gateway/src/'
const FILES = new Set(sourceFiles())
const IMPORTS = new Map([...FILES].map((file) => [file, importsOf(file)]))
const USES = [...IMPORTS].flatMap(([file, targets]) => targets.flatMap((target) => useOf(file, target) ?? []))

/** By name: what rooms keep on the context. */
const HIGHER = [...FILES].filter((file) => /^apps\/gateway\/src\/.*(?:state|auth)\.ts$/.test(file)).flatMap(stateOf)

const problems = [
  ...USES.filter(({ arrows, from, to }) => !arrows[from]?.includes(to)).map(
    ({ file, from, to }) => `${file}: ${from} may not import ${to}`,
  ),
  ...[PACKAGES, AGENT, WITNESS].flatMap(unusedArrows),
  ...[...FILES].flatMap(stepsUp),
  ...[...FILES].flatMap(usesOfHigherState),
  ...circles().map((circle) => `import circle: ${[...circle, circle[0]].join(' → ')}`),
]
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

function sourceFiles(): string[] {
  return globSync('{packages,apps}/*/{src,test}/**/*.{ts,tsx}').concat(
    globSync('apps/web/build/*.ts'),
    globSync('{bench,fuzz}/{src,test}/**/*.ts'),
    globSync('{acceptance,scripts}/**/*.ts'),
    globSync('contracts/{*,src/*,test/*}.ts'),
  )
}

/** Types, too: what cannot be understood alone is a circle to its reader. */
function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    (match) => match[1] as string,
  )
}

/** The folder of a package: `packages/<name>`, `apps/<name>`, `bench`, … */
function homeOf(file: string): string {
  return /^(?:packages|apps)\/[^/]+|^[^/]+/.exec(file)?.[0] as string
}

function nameOf(home: string): string {
  return home.split('/').at(-1) as string
}

interface Use {
  file: string
  arrows: Arrows
  from: string
  to: string
}

/** The arrow that an import needs; null where it needs none. */
function useOf(file: string, target: string): Use | null {
  const home = homeOf(file)
  const owner = nameOf(home)
  if (home === 'scripts') return null
  const isTest = /(?:\/test\/|^acceptance\/)/.test(file)
  const imported = /^@svc\/([^/]+)/.exec(target)?.[1]
  if (imported) {
    const isFree = isTest && [...TEST_PACKAGES, owner].includes(imported)
    return isFree ? null : { file, arrows: PACKAGES, from: owner, to: imported }
  }
  if (!target.startsWith('.') || isTest) return null
  const path = relativeTarget(file, target)
  if (path === CHROMIUM) return null
  if (!path.startsWith(`${home}/`)) return { file, arrows: PACKAGES, from: owner, to: path }
  const rooms = owner === 'agent' ? AGENT : owner === 'witness' ? WITNESS : {}
  return placeOf(file) in rooms ? placeUse(rooms, file, path) : null
}

function relativeTarget(file: string, target: string): string {
  return new URL(target, `file:///${file}`).pathname.slice(1)
}

function placeUse(arrows: Arrows, file: string, target: string): Use | null {
  const [from, to] = [placeOf(file), placeOf(target)]
  const isRoom = !from.endsWith('.ts')
  return from === to || (isRoom && TOOLS.includes(to)) ? null : { file, arrows, from, to }
}

/** Imports of a file of the gateway that lead to a higher floor. */
function stepsUp(file: string): string[] {
  if (!file.startsWith(GATEWAY)) return []
  const from = placeOf(file)
  return IMPORTS.get(file)!.flatMap((target) => {
    const path = target.startsWith('.') ? relativeTarget(file, target) : ''
    const to = placeOf(path)
    if (!path.startsWith(GATEWAY) || [from, ...TOOLS].includes(to) || TOOLS.includes(from)) return []
    return floorOf(to) > floorOf(from) ? [] : [`${file}: ${from} may not import ${to}, which is not below it`]
  })
}

function stateOf(file: string): { place: string; name: string }[] {
  const text = readFileSync(file, 'utf8')
  const [, body = ''] = /interface \w+State(?: extends \w+)? \{\n([\s\S]*?)\n\}/.exec(text) ?? []
  return [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => ({ place: placeOf(file), name: name! }))
}

function floorOf(place: string): number {
  const floor = FLOORS.indexOf(place)
  if (floor < 0) throw new Error(`scripts/arrows.ts: ${place} is on no floor`)
  return floor
}

/** Properties that a room adds to the context, and that a file on a lower floor names. */
function usesOfHigherState(file: string): string[] {
  if (!file.startsWith(GATEWAY) || TOOLS.includes(placeOf(file))) return []
  const from = placeOf(file)
  const used = new Set(
    [
      ...readFileSync(file, 'utf8').matchAll(
        /context\.(\w+)|Pick<Context, ([^>]*)>|^ *(?:const )?\{([^}]*)\}(?:: \w*Context| = context(?![.\w]))/gm,
      ),
    ].flatMap(([, name, ...lists]) => [name, ...lists.flatMap((names) => names?.split(/\W+/) ?? [])]),
  )
  return HIGHER.filter(({ place, name }) => used.has(name) && floorOf(place) < floorOf(from)).map(
    ({ place, name }) => `${file}: ${from} may not use context.${name}, which ${place} keeps`,
  )
}

function unusedArrows(arrows: Arrows): string[] {
  const used = new Set(USES.filter((use) => use.arrows === arrows).map(({ from, to }) => `${from} → ${to}`))
  const allowed = Object.entries(arrows).flatMap(([from, all]) => all.map((to) => `${from} → ${to}`))
  return allowed.filter((arrow) => !used.has(arrow)).map((arrow) => `scripts/arrows.ts: no import uses ${arrow}`)
}

/** A room, or a file at the root of `src`. */
function placeOf(file: string): string {
  return /\/src\/([^/]+)/.exec(file)?.[1] ?? ''
}

/** One shortest circle through each file that is in one and in none of those before. */
function circles(): string[][] {
  const edges = new Map(
    [...IMPORTS].map(([file, targets]) => [file, targets.flatMap((target) => fileOf(file, target) ?? [])]),
  )
  const seen = new Set<string>()
  const found: string[][] = []
  for (const file of edges.keys()) {
    const circle = seen.has(file) ? null : shortestCircle(edges, file)
    if (!circle) continue
    for (const member of circle) seen.add(member)
    found.push(circle)
  }
  return found
}

function shortestCircle(edges: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const next of edges.get(file) ?? []) {
      if (next === start) return pathTo(cameFrom, file)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return null
}

function pathTo(cameFrom: ReadonlyMap<string, string>, end: string): string[] {
  const before = cameFrom.get(end)
  return before === undefined ? [end] : [...pathTo(cameFrom, before), end]
}

/** Null for what is not a source file of this repository. */
function fileOf(file: string, target: string): string | null {
  if (target.startsWith('.')) return known(relativeTarget(file, target))
  const [, name, path] = /^@svc\/([^/]+)\/(.+)$/.exec(target) ?? []
  const home = name && [`packages/${name}`, `apps/${name}`, name].find((folder) => existsSync(folder))
  return home ? (known(`${home}/src/${path}.ts`) ?? known(`${home}/${path}.ts`)) : null
}

function known(path: string): string | null {
  return FILES.has(path) ? path : null
}
