import { describe, expect, it } from 'vitest'
import { describeTrace, explore } from '../src/explore.ts'
import { MUTANTS, type Mutant } from '../src/mutants.ts'
import { AT_NIGHT, SCENARIOS } from '../src/scenarios.ts'

describe.each([
  ['within small bounds', SCENARIOS, []],
  ['within larger bounds', AT_NIGHT, ['nightly']],
] as const)('the model %s', (_name, scenarios, tags) => {
  it.each(Object.keys(scenarios))('T-37 keeps every promise: %s', { tags: [...tags] }, (scenario) => {
    const { violation, states } = explore({ bounds: scenarios[scenario]!, mutant: null })
    expect(violation && `${violation.promise}\n${describeTrace(violation.trace)}`).toBeNull()
    expect(states).toBeGreaterThan(1000)
  })
})

it.each(Object.keys(MUTANTS) as Mutant[])('T-37 finds the promise that breaks where a gateway %s', (mutant) => {
  const [scenario, promise] = MUTANTS[mutant]
  const { violation } = explore({ bounds: SCENARIOS[scenario]!, mutant })
  expect(violation?.promise).toBe(promise)
  expect(describeTrace(violation!.trace)).toMatch(/^ {2}1\. /)
})
