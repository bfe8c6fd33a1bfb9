import { startCoverage } from '../../src/parsers/engine/coverage.ts'
import { fuzzParser } from '../../src/parsers/engine/fuzz-parser.ts'

const MAX_CASES = 100_000

const coverage = await startCoverage()
const { readPlanted, wasFound } = await import('./planted-parser.ts')
const { findings } = await fuzzParser(
  { seeds: ['aaaaaaaa'], words: ['s', 'v', 'c', '!'], check: readPlanted },
  { seed: 1, coverage, isOver: (cases) => wasFound() || cases >= MAX_CASES },
)
console.log(JSON.stringify(findings))
