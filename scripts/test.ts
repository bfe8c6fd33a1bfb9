// `npm test`: all checks, then all tests, then one line with the counts.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runChecks } from './check.ts'

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

const checks = await runChecks()
const tests = runVitest()
const passed = checks.passed + tests.passed
const failed = checks.failed + tests.failed
const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''
console.log(`${passed} passed, ${failed} failed${skipped}`)
process.exit(failed > 0 ? 1 : 0)

function runVitest(): { passed: number; failed: number; skipped: number } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const report = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  // Many tests start our programs as processes: they share compiled code.
  const env = { ...process.env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/svc') }
  const { status } = spawnSync('vitest', ['run', ...reporters, ...process.argv.slice(2)], { stdio: 'inherit', env })
  const counts = readReport(report)
  rmSync(folder, { recursive: true })
  // A run that broke outside any test has failed too.
  if (status !== 0 && counts.failed === 0) counts.failed = 1
  return counts
}

function readReport(file: string): { passed: number; failed: number; skipped: number } {
  try {
    const report: VitestReport = JSON.parse(readFileSync(file, 'utf8'))
    const brokenFiles = report.testResults.filter((r) => r.status === 'failed' && r.assertionResults.length === 0)
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests + brokenFiles.length,
      skipped: report.numPendingTests + report.numTodoTests,
    }
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
}
