// `npm run spec` prints the tests of each requirement, and `npm run spec PAY-44 ENV` only those of one id and of a family.
// With `--check` it fails when the specification, the tests and the links between documents disagree.

import { brokenLinks } from './spec/links.ts'
import { mentionedIds, readRequirements } from './spec/requirements.ts'
import { readTestTitles, type TestTitle } from './spec/test-titles.ts'

const { requirements, families, problems: badRows } = readRequirements()
const { titles, problems: badTitles } = readTestTitles(families)
const titlesById = Map.groupBy(
  titles.flatMap((title) => title.ids.map((id) => ({ id, title }))),
  ({ id }) => id,
)

const wanted = process.argv.slice(2)
if (wanted.includes('--check')) {
  const problems = [...badRows, ...badTitles, ...untestedOrUnknown(), ...brokenLinks()]
  for (const problem of problems) console.error(problem)
  process.exit(problems.length > 0 ? 1 : 0)
}
const ids = [...titlesById.keys()].filter((id) => wanted.length === 0 || wanted.some((word) => isOf(id, word))).sort()
for (const id of ids) console.log(testsOf(id))
if (ids.length === 0) {
  console.error(`no test names ${wanted.join(' or ')}; docs/spec lists the ids`)
  process.exitCode = 1
}

function untestedOrUnknown(): string[] {
  const untested = [...requirements.values()].flatMap(({ id, file, isPlanned }) => {
    if (isPlanned && titlesById.has(id)) return `${file}: ${id} has a test, so it is no longer "planned": link its code`
    return isPlanned || titlesById.has(id) ? [] : `${file}: no test title names ${id}`
  })
  const unknown = mentionedIds(families).filter(({ id }) => !requirements.has(id))
  return [...untested, ...unknown.map(({ id, file }) => `${file}: ${id} has no meaning in docs/spec`)]
}

function isOf(id: string, word: string): boolean {
  return id === word.toUpperCase() || id.startsWith(`${word.toUpperCase()}-`)
}

function testsOf(id: string): string {
  const byFile = Map.groupBy(titlesById.get(id) as { title: TestTitle }[], ({ title }) => title.file)
  const lines = [...byFile].flatMap(([file, found]) => {
    const texts = new Set(found.map(({ title }) => title.text).filter(Boolean))
    return [`  ${file}`, ...[...texts].map((text) => `    ${text}`)]
  })
  return [id, ...lines, ''].join('\n')
}
