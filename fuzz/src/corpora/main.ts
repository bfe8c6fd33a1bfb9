// `npm run corpora -- FOLDER`: other people's test cases, each given to everything of ours that reads such bytes. Exits
// with 1 if one did not hold.

import { readInBrowser } from './browser.ts'
import type { Corpora, Outcome } from './cases.ts'
import { examples } from './examples.ts'
import { checkInPackages } from './in-packages.ts'
import { checkOverCli } from './over-cli.ts'
import { checkOverHttp } from './over-http.ts'
import { readCorpora } from './read-folder.ts'

const [folder, ...rest] = process.argv.slice(2)
if (folder === undefined || rest.length > 0) fail('npm run corpora -- FOLDER: a folder with JSON texts and signatures')
const corpora = await readCorpora(folder).catch((error: Error) => fail(`${folder} cannot be read: ${error.message}`))
const { json, ed25519, unread } = corpora
console.log(`${folder}: ${json.length} JSON texts, ${ed25519.length} Ed25519 signatures`)
for (const line of unread) console.log(`  not read: ${line}`)
if (json.length + ed25519.length === 0) fail(`${folder} holds no cases: see fuzz/README.md for the forms that are read`)

let failed = 0
for await (const { kind, cases, problems, notes } of outcomes(corpora)) {
  console.log(`${kind}: ${cases} cases, ${problems.length === 0 ? 'all held' : `${problems.length} problems`}`)
  for (const line of notes) console.log(`  ${line}`)
  for (const line of problems) console.log(`  ✗ ${line}`)
  failed += problems.length
}
process.exit(failed > 0 ? 1 : 0)

async function* outcomes(corpora: Corpora): AsyncGenerator<Outcome> {
  const good = examples()
  yield* await checkInPackages(good, corpora, await readInBrowser(good, corpora))
  if (corpora.json.length === 0) return
  yield await checkOverCli(good, corpora.json)
  yield* await checkOverHttp(corpora.json)
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
