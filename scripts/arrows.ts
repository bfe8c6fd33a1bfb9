// Who may import whom. `npm run check` fails on an import that is not in this table.

import { globSync, readFileSync } from 'node:fs'

const PACKAGES: Record<string, readonly string[]> = {
  protocol: [],
  api: ['protocol'],
  verifier: ['protocol'],
  payments: ['protocol'],
  concurrency: [],
  database: ['concurrency'],
  outgoing: ['protocol'],
  storage: ['api', 'concurrency', 'http-service', 'protocol'],
  devnet: ['database', 'http-service', 'protocol'],
  contracts: [],
  queue: ['database', 'protocol'],
  'http-service': ['api', 'protocol'],
  guard: ['concurrency', 'database', 'http-service', 'protocol'],
  sales: ['api', 'http-service', 'payments', 'protocol'],
  gateway: [
    'api',
    'concurrency',
    'contracts',
    'database',
    'guard',
    'http-service',
    'outgoing',
    'payments',
    'protocol',
    'queue',
    'sales',
    'storage',
  ],
  agent: ['api', 'database', 'guard', 'http-service', 'outgoing', 'payments', 'protocol', 'queue', 'sales', 'sdk'],
  sdk: ['api', 'concurrency', 'protocol'],
  cli: ['api', 'payments', 'protocol', 'sdk', 'verifier'],
  mcp: ['api', 'concurrency', 'protocol', 'sdk', 'verifier'],
  testbed: ['agent', 'api', 'devnet', 'gateway', 'http-service', 'protocol', 'storage'],
  acceptance: ['api', 'devnet', 'protocol', 'sdk', 'testbed', 'verifier'],
  bench: ['api', 'devnet', 'gateway', 'http-service', 'protocol', 'storage', 'testbed'],
}

/** Rooms of the gateway: each names those it may enter. Files at the top wire them together. */
const ROOMS: Record<string, readonly string[]> = {
  db: [],
  evm: [],
  info: ['db'],
  auth: ['db'],
  lockers: ['auth', 'db'],
  purchases: ['auth', 'db', 'lockers'],
  x402: ['auth', 'db', 'evm', 'purchases'],
  files: ['auth', 'db', 'lockers'],
  transfers: ['auth', 'db', 'files', 'lockers'],
  attestations: ['auth', 'db', 'files', 'lockers'],
  anchors: ['attestations', 'auth', 'db', 'evm', 'files'],
  evidence: ['anchors', 'attestations', 'auth', 'db', 'files', 'info', 'purchases'],
  jobs: ['anchors', 'attestations', 'auth', 'files', 'transfers', 'x402'],
}

const problems = sourceFiles().flatMap((file) => {
  const owner = file.split('/').at(file.startsWith('packages/') || file.startsWith('apps/') ? 1 : 0) as string
  return imports(file).flatMap((target) => objection(file, owner, target) ?? [])
})
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

function sourceFiles(): string[] {
  return globSync('{packages,apps}/*/{src,test}/**/*.ts').concat(
    globSync('{testbed,bench}/{src,test}/**/*.ts'),
    globSync('acceptance/**/*.ts'),
    globSync('contracts/{*,src/*,test/*}.ts'),
  )
}

function imports(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    (match) => match[1] as string,
  )
}

function objection(file: string, owner: string, target: string): string | null {
  const isTest = /(?:\/test\/|^acceptance\/)/.test(file)
  const imported = /^@svc\/([^/]+)/.exec(target)?.[1]
  if (imported) {
    const allowed = [...(PACKAGES[owner] ?? []), ...(isTest ? ['devnet', 'testbed', 'verifier', 'storage', owner] : [])]
    return allowed.includes(imported) ? null : `${file}: ${owner} may not import ${imported}`
  }
  if (!target.startsWith('.') || isTest) return null
  const path = new URL(target, `file:///${file}`).pathname.slice(1)
  const home = file.split(/\/(?:src|test)\//)[0] as string
  if (!path.startsWith(`${home}/`)) return `${file}: ${target} leaves the package`
  return owner === 'gateway' ? roomObjection(file, path) : null
}

function roomObjection(file: string, target: string): string | null {
  const [from, to] = [file, target].map((path) => /^apps\/gateway\/src\/([^/]+)\//.exec(path)?.[1])
  if (!from || !to || from === to) return null
  return ROOMS[from]?.includes(to) ? null : `${file}: the room ${from} may not enter ${to}`
}
