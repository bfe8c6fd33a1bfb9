// `npm run check`: all static checks. `npm run check -- --changed` skips slow checks that rarely fail during work:
// linting unchanged files, and finding unused code.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const TYPES = 'node_modules/.cache/svc/types.tsbuildinfo'

type Step = [name: string, command: string, ...args: string[]]

const STEPS: Step[] = [
  // One thread takes as long while the linter runs concurrently, with half the work.
  ['types', 'tsc', '-p', 'tsconfig.json', '--singleThreaded', '--incremental', '--tsBuildInfoFile', TYPES],
  ['types of protocol, without Node and DOM', 'tsc', '-p', 'packages/protocol'],
  ['types of verifier, without Node and DOM', 'tsc', '-p', 'packages/verifier'],
  ['lint and format', 'node', 'scripts/lint.ts'],
  ['dead files, exports and dependencies', 'knip', '--no-progress'],
  ['import arrows', 'node', 'scripts/arrows.ts'],
  ['database writes only through commit', 'node', 'scripts/writes.ts'],
  ['specification: a meaning, code and a test for every id', 'node', 'scripts/spec.ts', '--check'],
  ['words', 'node', 'scripts/words.ts'],
  ['documents: networks, assets and settings', 'node', 'scripts/asset-docs.ts', '--check'],
  ['documents: the reason for each dependency', 'node', 'scripts/dependencies.ts', '--check'],
]

/** Skipped with `--changed`. */
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
    const { stdout, stderr } = error as { stdout?: string; stderr?: string } // execFile sets them unless the command did not start
    console.log(`✗ ${name}\n${stdout ?? ''}${stderr ?? error}`)
    return false
  }
}

if (import.meta.main) {
  const { failed } = await runChecks({ changed: process.argv.includes('--changed') })
  process.exit(failed > 0 ? 1 : 0)
}
