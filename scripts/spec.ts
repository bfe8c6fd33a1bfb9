// `npm run spec` writes docs/spec/tests.md: every requirement with the tests that show it. With `--check` it writes
// nothing and fails when the specification, the tests and the links between them disagree.

import { readFileSync, writeFileSync } from 'node:fs'
import { brokenLinks } from './spec/links.ts'
import { mentionedIds, readRequirements } from './spec/requirements.ts'
import { readTestTitles, type TestTitle } from './spec/test-titles.ts'

const TABLE = 'docs/spec/tests.md'

const { requirements, families, problems: badRows } = readRequirements()
const { titles, problems: badTitles } = readTestTitles(families)
const titlesById = Map.groupBy(
  titles.flatMap((title) => title.ids.map((id) => ({ id, title }))),
  ({ id }) => id,
)
const table = testTable()

if (process.argv.includes('--check')) {
  const problems = [...badRows, ...badTitles, ...untestedOrUnknown(), ...brokenLinks(TABLE, table), ...staleTable()]
  for (const problem of problems) console.error(problem)
  process.exit(problems.length > 0 ? 1 : 0)
}
writeFileSync(TABLE, table)

function untestedOrUnknown(): string[] {
  const untested = [...requirements.values()].flatMap(({ id, file, isPlanned }) => {
    if (isPlanned && titlesById.has(id))
      return `${file}: ${id} has a test, so it is not "planned" any more: link its code`
    return isPlanned || titlesById.has(id) ? [] : `${file}: no test title names ${id}`
  })
  const unknown = mentionedIds(families).filter(({ id }) => !requirements.has(id))
  return [...untested, ...unknown.map(({ id, file }) => `${file}: ${id} has no meaning in docs/spec`)]
}

function staleTable(): string[] {
  return readFileSync(TABLE, 'utf8') === table ? [] : [`${TABLE} is out of date: npm run spec`]
}

function testTable(): string {
  const sections = [...titlesById.keys()].sort().map((id) => {
    const byFile = Map.groupBy(titlesById.get(id) as { title: TestTitle }[], ({ title }) => title.file)
    const files = [...byFile].sort(([a], [b]) => (a < b ? -1 : 1))
    return `## ${id}\n\n${files.map(([file, found]) => fileEntry(file, found)).join('\n')}\n`
  })
  return `# Tests by requirement\n\nWritten by \`npm run spec\`. Edit the test titles, not this file.\n\n${sections.join('\n')}`
}

function fileEntry(file: string, found: { title: TestTitle }[]): string {
  const texts = new Set(found.map(({ title }) => title.text).filter(Boolean))
  return [`- [${file}](../../${file})`, ...[...texts].map((text) => `  - ${escapeMarkdown(text)}`)].join('\n')
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>]/g, '\\$&')
}
