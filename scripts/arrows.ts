// The allowed imports between modules. `npm run check` fails on an import that is not in these tables, on an arrow in
// them that no import uses, and on import cycles between files.

import { existsSync, globSync, readFileSync } from 'node:fs'

/** The modules that each module may import. */
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
  // The local servers; `services` also starts the apps, for `npm start` and for tests.
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
  model: ['concurrency', 'database', 'gateway', 'protocol', 'service'],
  fuzz: ['api', 'devnet', 'protocol', 's3', 'sdk', 'verifier'],
}

/**
 * The layers of the gateway, from the top down: modules, and files at the root. Each imports only from the layers below
 * it, and uses no state that a higher layer stores in the context.
 */
const LAYERS = [
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

/** The modules inside the agent service; the files at its root wire them together. */
const AGENT: Arrows = {
  db: [],
  callers: [],
  info: [],
  gateway: ['db'],
  subscriptions: ['callers', 'db'],
  delegations: ['callers', 'db', 'gateway', 'subscriptions', 'work'],
  work: ['db', 'subscriptions'],
}

/** The modules inside a witness; the files at its root wire them together. */
const WITNESS: Arrows = {
  db: [],
  logs: [],
  alarms: ['db'],
  witness: ['alarms', 'db'],
  monitor: ['alarms', 'db', 'witness'],
  info: ['alarms', 'db', 'monitor'],
  bin: ['create-context.ts', 'monitor', 'start-witness.ts'],
}

/** Files that every module may import; they consist of declarations of the modules. */
const TOOLS = ['config.ts', 'context.ts']

/** Packages that every test may import, besides its own. */
const TEST_PACKAGES = ['devnet', 'verifier', 'storage']

/** Finds the browser, also for programs that are run by hand. */
const CHROMIUM = 'scripts/chromium.ts'

const GATEWAY = 'apps/gateway/src/'
const FILES = new Set(sourceFiles())
const IMPORTS = new Map([...FILES].map((file) => [file, importsOf(file)]))
const USES = [...IMPORTS].flatMap(([file, targets]) => targets.flatMap((target) => useOf(file, target) ?? []))

/** The properties that modules store in the context, by name. */
const HIGHER = [...FILES].filter((file) => /^apps\/gateway\/src\/.*(?:state|auth)\.ts$/.test(file)).flatMap(stateOf)

const problems = [
  ...USES.filter(({ arrows, from, to }) => !arrows[from]?.includes(to)).map(
    ({ file, from, to }) => `${file}: ${from} may not import ${to}`,
  ),
  ...[PACKAGES, AGENT, WITNESS].flatMap(unusedArrows),
  ...[...FILES].flatMap(upwardImports),
  ...[...FILES].flatMap(usesOfHigherState),
  ...cycles().map((cycle) => `import cycle: ${[...cycle, cycle[0]].join(' → ')}`),
]
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

function sourceFiles(): string[] {
  return globSync('{packages,apps}/*/{src,test}/**/*.{ts,tsx}').concat(
    globSync('apps/web/build/*.ts'),
    globSync('{bench,fuzz,model}/{src,test}/**/*.ts'),
    globSync('{acceptance,scripts}/**/*.ts'),
    globSync('contracts/{*,src/*,test/*}.ts'),
  )
}

/** Type imports count, too: readers cannot understand the files of a cycle separately. */
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

/** The arrow that an import needs, or null. */
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
  const modules = owner === 'agent' ? AGENT : owner === 'witness' ? WITNESS : {}
  return moduleOf(file) in modules ? moduleUse(modules, file, path) : null
}

function relativeTarget(file: string, target: string): string {
  return new URL(target, `file:///${file}`).pathname.slice(1)
}

function moduleUse(arrows: Arrows, file: string, target: string): Use | null {
  const [from, to] = [moduleOf(file), moduleOf(target)]
  const isModule = !from.endsWith('.ts')
  return from === to || (isModule && TOOLS.includes(to)) ? null : { file, arrows, from, to }
}

/** Imports of a gateway file that lead to a higher layer. */
function upwardImports(file: string): string[] {
  if (!file.startsWith(GATEWAY)) return []
  const from = moduleOf(file)
  return IMPORTS.get(file)!.flatMap((target) => {
    const path = target.startsWith('.') ? relativeTarget(file, target) : ''
    const to = moduleOf(path)
    if (!path.startsWith(GATEWAY) || [from, ...TOOLS].includes(to) || TOOLS.includes(from)) return []
    return layerOf(to) > layerOf(from) ? [] : [`${file}: ${from} may not import ${to}, which is not in a lower layer`]
  })
}

function stateOf(file: string): { module: string; name: string }[] {
  const text = readFileSync(file, 'utf8')
  const [, body = ''] = /interface \w+State(?: extends \w+)? \{\n([\s\S]*?)\n\}/.exec(text) ?? []
  return [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => ({ module: moduleOf(file), name: name! }))
}

function layerOf(module: string): number {
  const layer = LAYERS.indexOf(module)
  if (layer < 0) throw new Error(`scripts/arrows.ts: ${module} is in no layer`)
  return layer
}

/** Context properties of a higher layer that a file uses. */
function usesOfHigherState(file: string): string[] {
  if (!file.startsWith(GATEWAY) || TOOLS.includes(moduleOf(file))) return []
  const from = moduleOf(file)
  const used = new Set(
    [
      ...readFileSync(file, 'utf8').matchAll(
        /context\.(\w+)|Pick<Context, ([^>]*)>|^ *(?:const )?\{([^}]*)\}(?:: \w*Context| = context(?![.\w]))/gm,
      ),
    ].flatMap(([, name, ...lists]) => [name, ...lists.flatMap((names) => names?.split(/\W+/) ?? [])]),
  )
  return HIGHER.filter(({ module, name }) => used.has(name) && layerOf(module) < layerOf(from)).map(
    ({ module, name }) => `${file}: ${from} may not use context.${name}, which belongs to ${module}`,
  )
}

function unusedArrows(arrows: Arrows): string[] {
  const used = new Set(USES.filter((use) => use.arrows === arrows).map(({ from, to }) => `${from} → ${to}`))
  const allowed = Object.entries(arrows).flatMap(([from, all]) => all.map((to) => `${from} → ${to}`))
  return allowed.filter((arrow) => !used.has(arrow)).map((arrow) => `scripts/arrows.ts: no import uses ${arrow}`)
}

/** The module of a file: a folder in `src`, or a file at its root. */
function moduleOf(file: string): string {
  return /\/src\/([^/]+)/.exec(file)?.[1] ?? ''
}

/** A shortest import cycle through each file, without the files of cycles found before. */
function cycles(): string[][] {
  const edges = new Map(
    [...IMPORTS].map(([file, targets]) => [file, targets.flatMap((target) => fileOf(file, target) ?? [])]),
  )
  const visited = new Set<string>()
  const found: string[][] = []
  for (const file of edges.keys()) {
    const cycle = visited.has(file) ? null : shortestCycle(edges, file)
    if (!cycle) continue
    for (const member of cycle) visited.add(member)
    found.push(cycle)
  }
  return found
}

function shortestCycle(edges: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
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

/** The source file that an import names; null if it is not in this repository. */
function fileOf(file: string, target: string): string | null {
  if (target.startsWith('.')) return known(relativeTarget(file, target))
  const [, name, path] = /^@svc\/([^/]+)\/(.+)$/.exec(target) ?? []
  const home = name && [`packages/${name}`, `apps/${name}`, name].find((folder) => existsSync(folder))
  return home ? (known(`${home}/src/${path}.ts`) ?? known(`${home}/${path}.ts`)) : null
}

function known(path: string): string | null {
  return FILES.has(path) ? path : null
}
