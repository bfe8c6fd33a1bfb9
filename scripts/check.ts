// `npm run check`: all checks that need no running code.

import { spawnSync } from 'node:child_process'

const STEPS: [name: string, command: string, ...args: string[]][] = [
  ['types', 'tsc', '-p', 'tsconfig.json'],
  ['types of protocol, without Node and DOM', 'tsc', '-p', 'packages/protocol'],
  ['types of verifier, without Node and DOM', 'tsc', '-p', 'packages/verifier'],
  ['lint and format', 'biome', 'check', '.'],
  ['dead files, exports and dependencies', 'knip', '--no-progress'],
  ['import arrows', 'node', 'scripts/arrows.ts'],
  ['specification: a meaning, code and a test for every id', 'node', 'scripts/spec.ts', '--check'],
]

export function runChecks(): { passed: number; failed: number } {
  const results = STEPS.map(([name, command, ...args]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
    console.log(`${status === 0 ? '✓' : '✗'} ${name}`)
    if (status !== 0) console.log(`${stdout}${stderr}`)
    return status === 0
  })
  const passed = results.filter(Boolean).length
  return { passed, failed: results.length - passed }
}

if (import.meta.main) process.exit(runChecks().failed > 0 ? 1 : 0)
