// `npm test` is the gate: all checks, and every test that is not tagged `nightly`. `npm run test:all` runs everything.
// No test is retried. The last line counts passed and failed tests.

import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { bundlePrograms } from '@svc/devnet/bundling/bundle-programs'
import { ensurePages } from '@svc/web/build'
import { runChecks } from './check.ts'
import { readRequirements } from './spec/requirements.ts'
import { checkCpuBudget } from './test-setup/cpu-budget.ts'

interface Test {
  file: string
  name: string
  status: 'passed' | 'failed' | 'skipped'
  milliseconds: number
  isNightly: boolean
}

const SLOW_MS = 1000
const CACHE = 'node_modules/.cache/svc'

/** A change in these paths also runs the nightly tests of the folder. */
const NIGHTLY_OF_CHANGES: [folder: string, paths: RegExp][] = [
  ['packages/storage/test', /^packages\/(storage|devnet\/src\/providers)\//],
  ['apps/web/test', /^apps\/web\//],
]

const runsAll = process.argv[2] === '--all'
const filters = process.argv.slice(runsAll ? 3 : 2)
const isWhole = filters.length === 0

const [checks, first] = await Promise.all([isWhole ? runChecks() : { passed: 0, failed: 0 }, runTests()])
const isGate = isWhole && !runsAll
const problems = isGate ? [...requirementsNotShown(first), ...checkCpuBudget()] : []
const tests = isGate ? [...first, ...(await runNightlyOfChanges())] : first
for (const problem of problems) console.log(`✗ ${problem}`)
if (!runsAll) list(`tests of the gate over ${SLOW_MS / 1000} s`, tests.filter(isSlow))
const skipped = tests.filter(({ status, isNightly }) => status === 'skipped' && (runsAll || !isNightly))
list('skipped', skipped)
const passed = checks.passed + tests.filter(({ status }) => status === 'passed').length
const failed = checks.failed + problems.length + tests.filter(({ status }) => status === 'failed').length
console.log(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
process.exit(failed > 0 ? 1 : 0)

async function runTests(): Promise<Test[]> {
  await buildOnce()
  return runsAll ? runVitest(filters, freshSeed()) : runVitest(['--tags-filter=!nightly', ...filters])
}

async function runNightlyOfChanges(): Promise<Test[]> {
  const folders = changedFolders()
  if (folders.length === 0) return []
  const tests = await runVitest(['--tags-filter=nightly', ...folders], freshSeed())
  return tests.filter(({ isNightly }) => isNightly)
}

/** Builds once what several concurrent test files would otherwise each build. */
async function buildOnce(): Promise<void> {
  await ensurePages(console.log)
  const programs = [
    'apps/agent/src/start.ts',
    'apps/cli/src/bin/svc.ts',
    'apps/gateway/src/bin/start.ts',
    'apps/gateway/src/bin/svc-gateway.ts',
    'apps/cli/src/bin/svc-mcp.ts',
    'packages/devnet/src/services/start-all.ts',
    'packages/devnet/src/services/start.ts',
  ]
  bundlePrograms(programs.map((program) => new URL(`../${program}`, import.meta.url)))
}

/** The gate tests properties with the same values every time; nightly runs use new ones. */
function freshSeed(): string {
  const seed = process.env.SVC_TEST_SEED ?? String(Math.floor(Math.random() * 2 ** 31))
  console.log(`properties: SVC_TEST_SEED=${seed}`)
  return seed
}

async function runVitest(args: readonly string[], seed?: string): Promise<Test[]> {
  const report = resolve(CACHE, 'tests.json')
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  // Many tests start the project's programs as processes, which share compiled code.
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_COMPILE_CACHE: resolve(CACHE) }
  if (seed) env.SVC_TEST_SEED = seed
  const child = spawn('vitest', ['run', ...reporters, ...args], { stdio: 'inherit', env })
  const status = await new Promise<number | null>((done) => child.on('close', done))
  const tests = readReport(report)
  const hasFailed = tests.some((test) => test.status === 'failed')
  // An error outside any test also fails the run.
  return status === 0 || hasFailed ? tests : [...tests, test('vitest', 'the run itself', 'failed')]
}

function readReport(path: string): Test[] {
  interface Report {
    testResults: {
      name: string
      status: string
      assertionResults: { fullName: string; status: string; duration?: number; tags: string[] }[]
    }[]
  }
  let report: Report
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return []
  }
  return report.testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative('.', name)
    if (assertionResults.length === 0) return status === 'failed' ? test(file, 'the file itself', 'failed') : []
    return assertionResults.map((result) => ({
      file,
      name: result.fullName,
      status: result.status === 'passed' || result.status === 'failed' ? result.status : 'skipped',
      milliseconds: result.duration ?? 0,
      isNightly: result.tags.includes('nightly'),
    }))
  })
}

function test(file: string, name: string, status: Test['status']): Test {
  return { file, name, status, milliseconds: 0, isNightly: false }
}

/** The folders that differ from the upstream branch; none if it is unknown. */
function changedFolders(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const base = git('merge-base', 'HEAD', 'origin/main').trim()
    const changed = `${git('diff', '--name-only', base)}${git('ls-files', '--others', '--exclude-standard')}`.split(
      '\n',
    )
    return NIGHTLY_OF_CHANGES.filter(([, paths]) => changed.some((path) => paths.test(path))).map(([folder]) => folder)
  } catch {
    return []
  }
}

function requirementsNotShown(tests: readonly Test[]): string[] {
  const { requirements, families } = readRequirements()
  const id = new RegExp(`\\b(?:${families})-\\d{2,3}\\b`, 'g')
  const shown = new Set(tests.filter(hasShown).flatMap(({ name }) => name.match(id) ?? []))
  return [...requirements.values()]
    .filter(({ id, isPlanned }) => !isPlanned && !shown.has(id))
    .map(({ id }) => `no test of the gate covers ${id}`)
}

/** What cannot run without a program that the machine lacks is listed as skipped, and fails nothing. */
function hasShown({ status, name }: Test): boolean {
  return status === 'passed' || (status === 'skipped' && name.includes('(not installed)'))
}

function isSlow({ milliseconds, isNightly }: Test): boolean {
  return milliseconds >= SLOW_MS && !isNightly
}

function list(title: string, tests: readonly Test[]): void {
  if (tests.length === 0) return
  console.log(`${tests.length} ${title}:`)
  for (const { file, name, milliseconds } of tests.toSorted((a, b) => b.milliseconds - a.milliseconds))
    console.log(`  ${(milliseconds / 1000).toFixed(1).padStart(5)} s  ${file}: ${name}`)
}
