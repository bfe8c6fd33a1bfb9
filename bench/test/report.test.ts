import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { reportText, writeReport } from '../src/report.ts'
import type { Row } from '../src/row.ts'

const row = { what: 'speed', measured: '2 s', against: 'theirs: 1 s', ratio: 0.5, goal: { atLeast: 0.4 } } satisfies Row
const missing = { ...row, what: 'memory', goal: { atMost: 0.4 } } satisfies Row
const failures = [{ group: 'storj', error: new Error('no server\nat line 1') }]

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-report-'))
})
afterEach(() => rm(folder, { recursive: true }))
const docs = () => pathToFileURL(`${folder}/`)
const page = () => join(folder, 'performance.md')

it('the table marks rows that miss their goal and names failed groups', () => {
  const text = reportText({ rows: [row, missing], failures })
  expect(text).toContain('| speed | 2 s | theirs: 1 s | 0.50 | ≥ 0.4 | ✓ |')
  expect(text).toContain('| memory | 2 s | theirs: 1 s | 0.50 | ≤ 0.4 | ✗ |')
  expect(text).toContain('1 of 2 rows reach their goal')
  expect(text).toContain('The group “storj” failed: Error: no server')
  expect(text).not.toContain('at line 1')
})

it('writing replaces the table of this architecture and keeps the rest of the page', async () => {
  const other = '<!-- bench pdp11 -->\ntheir table\n<!-- end of bench pdp11 -->'
  const marked = (table: string) => `<!-- bench ${arch()} -->\n${table}\n<!-- end of bench ${arch()} -->`
  await writeFile(page(), `before\n${marked('old table')}\n${other}\nafter\n`)
  await writeReport(docs(), { rows: [row], failures: [] })
  const text = reportText({ rows: [row], failures: [] })
  expect(await readFile(page(), 'utf8')).toBe(`before\n${marked(text)}\n${other}\nafter\n`)
  expect(await readdir(folder)).toEqual(['performance.md'])
})

it('writing draws every row that has a chart', async () => {
  await writeFile(page(), `<!-- bench ${arch()} -->\n<!-- end of bench ${arch()} -->`)
  const bars = [
    { name: 'ours', does: 'flushed & hashed', value: 1234 },
    { name: 'theirs', does: 'neither', value: null },
  ]
  await writeReport(docs(), {
    rows: [row, { ...row, chart: { title: 'upload', unit: 'MiB/s', bars } }],
    failures: [],
  })
  const svg = await readFile(join(folder, `peers-${arch()}.svg`), 'utf8')
  for (const text of ['>Upload<', 'MiB/s, more is better', '>1,234<', 'ours: flushed &amp; hashed', '>cannot<'])
    expect(svg).toContain(text)
})

it('a page without markers stays unchanged', async () => {
  await writeFile(page(), 'prose')
  await expect(writeReport(docs(), { rows: [row], failures: [] })).rejects.toThrow('has no lines')
  expect(await readFile(page(), 'utf8')).toBe('prose')
})
