// `npm run fuzz [-- --only NAME --minutes 10 --seed 7]`: every reader of strangers' bytes, and every operation of the
// services, with made-up input, for a while each. Exits with 1 if anything was found.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CONTRACT_TARGETS } from './contract/targets.ts'
import { PARSER_TARGETS } from './parsers/targets.ts'

const MAX_SHOWN = 2000
const TARGETS = [...PARSER_TARGETS, ...CONTRACT_TARGETS]

const { values } = parseArgs({
  options: { only: { type: 'string' }, minutes: { type: 'string' }, seed: { type: 'string' } },
})
const minutes = Number(values.minutes ?? 1)
const seed = Number(values.seed ?? Math.floor(Date.now() / 1000))
const chosen = TARGETS.filter(({ name }) => values.only === undefined || name === values.only)
if (chosen.length === 0 || !(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error(
    `npm run fuzz -- [--only NAME] [--minutes M] [--seed N]; names: ${TARGETS.map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}

console.log(`${chosen.length} targets, ${minutes} min each, seed ${seed}`)
let found = 0
for (const target of chosen) {
  const { cases, findings, note } = await target.run({ seconds: minutes * 60, seed })
  console.log(`${target.name}: ${cases} cases, ${findings.length} findings${note ? `; ${note}` : ''}`)
  for (const { problem, input } of findings) console.log(`  ${problem}\n    ${shown(input, target.name)}`)
  found += findings.length
}
process.exit(found > 0 ? 1 : 0)

/** What is too long for a terminal is saved. */
function shown(input: string, name: string): string {
  if (input.length <= MAX_SHOWN) return input
  const file = join(mkdtempSync(join(tmpdir(), 'svc-fuzz-')), name)
  writeFileSync(file, input)
  return `in ${file}`
}
