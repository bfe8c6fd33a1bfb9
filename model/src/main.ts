// `npm run model [-- --night] [-- --mutant NAME]`: what the checker explores, or the counterexample of a fault.

import { parseArgs } from 'node:util'
import { describeTrace, explore } from './explore.ts'
import { MUTANTS, type Mutant } from './mutants.ts'
import { AT_NIGHT, SCENARIOS } from './scenarios.ts'

const { mutant, night } = parseArgs({
  options: { mutant: { type: 'string' }, night: { type: 'boolean', default: false } },
}).values
if (mutant !== undefined) showMutant(mutant)
else
  for (const [name, bounds] of Object.entries(night ? AT_NIGHT : SCENARIOS))
    show(name, explore({ bounds, mutant: null }))

function show(name: string, { states, steps, depth, seconds, violation }: ReturnType<typeof explore>): void {
  console.log(`${name}: ${states} states, ${steps} steps, depth ${depth}, ${seconds.toFixed(1)} s`)
  if (!violation) return
  console.log(`breaks "${violation.promise}" (${violation.what}):\n${describeTrace(violation.trace)}`)
  process.exitCode = 1
}

function showMutant(name: string): void {
  if (!(name in MUTANTS)) {
    console.error(`--mutant is one of:\n${Object.keys(MUTANTS).join('\n')}`)
    process.exitCode = 2
    return
  }
  const mutant = name as Mutant
  const [scenario] = MUTANTS[mutant]
  show(`${scenario}, where the gateway ${mutant}`, explore({ bounds: SCENARIOS[scenario]!, mutant }))
}
