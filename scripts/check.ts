// `npm run check`: all checks that need no running code.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const TYPES = 'node_modules/.cache/svc/types.tsbuildinfo'

const STEPS: [name: string, command: string, ...args: string[]][] = [
  // One thread takes no longer while the linter runs beside it, and half the work.
  ['types', 'tsc', '-p', 'tsconfig.json', '--singleThreaded', '--incremental', '--tsBuildInfoFile', TYPES],
  ['types of protocol, without Node and DOM', 'tsc', '-p', 'packages/protocol'],
  ['types of verifier, without Node and DOM', 'tsc', '-p', 'packages/verifier'],
  ['lint and format', 'node', 'scripts/lint.ts'],
  ['dead files, exports and dependencies', 'knip', '--no-progress'],
  ['import arrows', 'node', 'scripts/arrows.ts'],
  ['writes only by a commit', 'node', 'scripts/writes.ts'],
  ['specification: a meaning, code and a test for every id', 'node', 'scripts/spec.ts', '--check'],
  ['documents: the page of errors', 'node', 'scripts/error-docs.ts', '--check'],
  ['documents: networks and assets', 'node', 'scripts/asset-docs.ts', '--check'],
  ['documents: why each dependency is there', 'node', 'scripts/dependencies.ts', '--check'],
]

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

export async function runChecks(): Promise<{ passed: number; failed: number }> {
  const results = await Promise.all(STEPS.map(check))
  const passed = results.filter(Boolean).length
  return { passed, failed: results.length - passed }
}

async function check([name, command, ...args]: (typeof STEPS)[number]): Promise<boolean> {
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

if (import.meta.main) process.exit((await runChecks()).failed > 0 ? 1 : 0)
