// `npm test`: all checks, then all tests, then one line with the counts. Files with failed tests run once more, with
// nothing beside them: what passes then is named, because it depends on how busy the machine was and has to be mended.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundleOf } from '@svc/http-service/bundle'
import { ensurePages } from '@svc/web/build'
import { runChecks } from './check.ts'

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}

interface Counts {
  passed: number
  failed: number
  skipped: number
}

interface Run extends Counts {
  failures: { file: string; titles: string[] }[]
}

/** More than these is not about a busy machine. */
const MAX_FILES_AGAIN = 8

const checks = await runChecks()
await buildOnce()
const tests = runTests()
const passed = checks.passed + tests.passed
const failed = checks.failed + tests.failed
const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''
console.log(`${passed} passed, ${failed} failed${skipped}`)
process.exit(failed > 0 ? 1 : 0)

/** What several test files that run at the same time would build, each for itself. */
async function buildOnce(): Promise<void> {
  await ensurePages(console.log)
  const programs = [
    'apps/agent/src/start.ts',
    'apps/cli/src/main.ts',
    'apps/gateway/src/bin/start.ts',
    'apps/gateway/src/bin/svc-gateway.ts',
    'apps/mcp/src/main.ts',
    'testbed/src/start-all.ts',
    'testbed/src/start.ts',
  ]
  for (const program of programs) bundleOf(new URL(`../${program}`, import.meta.url))
}

function runTests(): Counts {
  const first = runVitest(process.argv.slice(2))
  const files = first.failures.map(({ file }) => file)
  if (files.length === 0 || files.length > MAX_FILES_AGAIN) return first
  const again = runVitest([...files, '--maxWorkers=1'])
  if (again.failed > 0) return first
  const titles = first.failures.flatMap(({ file, titles }) => (titles.length > 0 ? titles : [file]))
  console.log(`passed only when they ran again, by themselves:\n${titles.map((title) => `  ${title}\n`).join('')}`)
  return { passed: first.passed + first.failed, failed: 0, skipped: first.skipped }
}

function runVitest(args: readonly string[]): Run {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const report = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  // Many tests start our programs as processes: they share compiled code.
  const env = { ...process.env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/svc') }
  const { status } = spawnSync('vitest', ['run', ...reporters, ...args], { stdio: 'inherit', env })
  const run = readReport(report)
  rmSync(folder, { recursive: true })
  // A run that broke outside any test has failed too.
  if (status !== 0 && run.failed === 0) return { ...run, failed: 1 }
  return run
}

function readReport(file: string): Run {
  try {
    const report: VitestReport = JSON.parse(readFileSync(file, 'utf8'))
    const broken = report.testResults.filter(({ status }) => status === 'failed')
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken.filter(({ assertionResults }) => assertionResults.length === 0).length,
      skipped: report.numPendingTests + report.numTodoTests,
      failures: broken.map(({ name, assertionResults }) => ({
        file: name,
        titles: assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
      })),
    }
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failures: [] }
  }
}
