// `npm run corpora -- FOLDER`: external test cases, each given to every reader of such bytes in this repository. Exits
// with 1 if a case failed, and with 2 if there was nothing to run.

import { KINDS, type Kind } from './cases.ts'
import { readCorpora } from './read-folder.ts'

const [folder, ...rest] = process.argv.slice(2)
if (folder === undefined || rest.length > 0) fail('npm run corpora -- FOLDER: a folder of test cases, or one file')
const corpora = await readCorpora(folder).catch((error: Error) => fail(`${folder} cannot be read: ${error.message}`))
const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => corpora[kind].length > 0)
console.log(`${folder}: ${kinds.map((kind) => `${corpora[kind].length} ${KINDS[kind]}`).join(', ') || 'no cases'}`)
for (const line of corpora.unread) console.log(`  not read: ${line}`)
if (kinds.length === 0) fail(`${folder} holds no cases: see fuzz/README.md for the forms that are read`)

// The services and the browser take seconds to load.
const { outcomes } = await import('./outcomes.ts')
let failed = 0
const sums = new Map<string, { cases: number; passed: number }>()
for await (const { kind, cases, passed, problems, notes } of outcomes(corpora)) {
  console.log(`${kind}: ${cases} cases, ${problems.length === 0 ? 'all passed' : `${passed} passed`}`)
  for (const line of notes) console.log(`  ${line}`)
  for (const line of problems) console.log(`  ✗ ${line}`)
  failed += problems.length
  const [what = kind] = kind.split(',', 1)
  const sum = sums.get(what) ?? { cases: 0, passed: 0 }
  sums.set(what, { cases: sum.cases + cases, passed: sum.passed + passed })
}
const passed = [...sums].map(([what, sum]) => `${what} ${sum.passed} of ${sum.cases}`)
console.log(`passed, each case by each of its readers: ${passed.join('; ')}`)
if (corpora.unread.length > 0) console.log(`not read, and not counted: ${corpora.unread.length} (see above)`)
process.exit(failed > 0 ? 1 : 0)

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
