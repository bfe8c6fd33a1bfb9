// `npm run check`: all checks that need no running code. `npm run check -- --changed` leaves out what takes long and
// rarely fails while one works: linting files that did not change, and looking for what nothing uses.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const TYPES = 'node_modules/.cache/svc/types.tsbuildinfo'

type Step = [name: string, command: string, ...args: string[]]

const STEPS: Step[] = [
  // One thread takes no longer while the linter runs beside it, and half the work.
  ['types', 'tsc', '-p', 'tsconfig.json', '--singleThreaded', '--incremental', '--tsBuildInfoFile', TYPES],
  ['types of protocol, without Node and DOM', 'tsc', '-p', 'packages/protocol'],
  ['types of verifier, without Node and DOM', 'tsc', '-p', 'packages/verifier'],
  ['lint and format', 'node', 'scripts/lint.ts'],
  ['dead files, exports and dependencies', 'knip', '--no-progress'],
  ['import arrows', 'node', 'scripts/arrows.ts'],
  ['writes only by a commit', 'node', 'scripts/writes.ts'],
  ['specification: a meaning, code and a test for every id', 'node', 'scripts/spec.ts', '--check'],
  ['documents: networks and assets', 'node', 'scripts/asset-docs.ts', '--check'],
  ['documents: why each dependency is there', 'node', 'scripts/dependencies.ts', '--check'],
]

/** Left out with `--changed`. */
const SLOW = ['dead files, exports and dependencies']

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

export async function runChecks(options: { changed?: boolean } = {}): Promise<{ passed: number; failed: number }> {
  const steps = options.changed ? STEPS.filter(([name]) => !SLOW.includes(name)).map(lintChanged) : STEPS
  const results = await Promise.all(steps.map(check))
  const passed = results.filter(Boolean).length
  return { passed, failed: results.length - passed }
}

function lintChanged(step: Step): Step {
  return step.includes('scripts/lint.ts') ? [...step, '--changed'] : step
}

async function check([name, command, ...args]: Step): Promise<boolean> {
  try {
    await run(command, args, { maxBuffer: MAX_OUTPUT_BYTES })
    console.log(`✓ ${name}`)
    return true
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string } // of execFile; neither where it did not start
    console.log(`✗ ${name}\n${stdout ?? ''}${stderr ?? error}`)
    return false
  }
}

if (import.meta.main) {
  const { failed } = await runChecks({ changed: process.argv.includes('--changed') })
  process.exit(failed > 0 ? 1 : 0)
}
