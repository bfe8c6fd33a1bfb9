// `npm run fuzz [-- --only NAME --minutes 10 --seed 7]`: the properties of every reader of untrusted bytes, and every
// operation of the services, with generated input, for a while each. Exits with 1 if anything was found.

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CONTRACT_TARGETS } from './contract/targets.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, minutes: { type: 'string' }, seed: { type: 'string' } },
})
const { only = '' } = values
const minutes = Number(values.minutes ?? 1)
const seed = Number(values.seed ?? Math.floor(Date.now() / 1000))
const targets = CONTRACT_TARGETS.filter(({ name }) => only === '' || name === only)
/** The titles of the selected properties. */
const titles = new RegExp(`no made-up input breaks the rules of .*${only}`)
const files = globSync('{packages,apps}/*/test/**/*.test.ts').filter((file) => titles.test(readFileSync(file, 'utf8')))
if (targets.length + files.length === 0 || !(minutes > 0) || !Number.isSafeInteger(seed)) {
  const names = CONTRACT_TARGETS.map(({ name }) => name).join(', ')
  console.error(`npm run fuzz -- [--only NAME] [--minutes M] [--seed N]; names: ${names}, or words of a title`)
  process.exit(2)
}

console.log(`${minutes} min each, seed ${seed}`)
let hasFailed = files.length > 0 && !tryProperties()
for (const target of targets) {
  const { cases, findings, note } = await target.run({ seconds: minutes * 60, seed })
  console.log(`${target.name}: ${cases} cases, ${findings.length} findings; ${note}`)
  for (const { problem, input } of findings) console.log(`  ${problem}\n    ${input}`)
  hasFailed ||= findings.length > 0
}
process.exit(hasFailed ? 1 : 0)

function tryProperties(): boolean {
  // Each property ends by itself.
  const args = ['run', '--project', 'node', '--testTimeout=0', '-t', titles.source, ...files]
  const env = { ...process.env, SVC_FUZZ_SECONDS: String(minutes * 60), SVC_TEST_SEED: String(seed) }
  return spawnSync('vitest', args, { stdio: 'inherit', env }).status === 0
}
