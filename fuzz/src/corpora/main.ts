// `npm run corpora -- FOLDER`: other people's test cases, each given to everything of ours that reads such bytes. Exits
// with 1 if one did not hold.

import { readCorpora } from './read-folder.ts'

const [folder, ...rest] = process.argv.slice(2)
if (folder === undefined || rest.length > 0) fail('npm run corpora -- FOLDER: a folder with JSON texts and signatures')
const corpora = await readCorpora(folder).catch((error: Error) => fail(`${folder} cannot be read: ${error.message}`))
const { json, ed25519, unread } = corpora
console.log(`${folder}: ${json.length} JSON texts, ${ed25519.length} Ed25519 signatures`)
for (const line of unread) console.log(`  not read: ${line}`)
if (json.length + ed25519.length === 0) fail(`${folder} holds no cases: see fuzz/README.md for the forms that are read`)

// The services and the browser take seconds to load.
const { outcomes } = await import('./outcomes.ts')
let failed = 0
for await (const { kind, cases, problems, notes } of outcomes(corpora)) {
  console.log(`${kind}: ${cases} cases, ${problems.length === 0 ? 'all held' : `${problems.length} problems`}`)
  for (const line of notes) console.log(`  ${line}`)
  for (const line of problems) console.log(`  ✗ ${line}`)
  failed += problems.length
}
process.exit(failed > 0 ? 1 : 0)

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
