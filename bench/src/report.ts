// The table of a run: it is printed, and written into the performance page beside the tables of other architectures.

import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { arch, cpus, release, totalmem, type } from 'node:os'
import { picture } from './picture.ts'
import { isGoalMet, type Row } from './row.ts'
import { isQuick } from './scale.ts'

export interface Failure {
  group: string
  error: unknown
}

export interface Report {
  rows: readonly Row[]
  failures: readonly Failure[]
}

/** The machine that the figures depend on. */
export function machineText(): string {
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB of memory`
  const date = new Date().toISOString().slice(0, 10)
  return `${processorName()}, ${cpus().length} × ${arch()}, ${memory}, ${type()} ${release()}, Node ${process.version}, ${date}`
}

export function reportText({ rows, failures }: Report): string {
  const missed = rows.filter((row) => !isGoalMet(row))
  const lines = [
    `${machineText()}${isQuick ? '. **Quick form: few rounds and small sizes, so the figures are rough.**' : ''}`,
    '',
    '| what | measured | against | ratio | goal | |',
    '|---|---|---|---|---|---|',
    ...rows.map(rowText),
    '',
    `${rows.length - missed.length} of ${rows.length} rows reach their goal${missed.length > 0 ? '; ✗ marks the others' : ''}.`,
    ...failures.map(({ group, error }) => `The group “${group}” failed: ${firstLine(error)}`),
  ]
  return lines.join('\n')
}

/** Replaces the table of this architecture, between its two markers, and its picture. */
export async function writeReport(docs: URL, report: Report): Promise<void> {
  const page = new URL('performance.md', docs)
  const [start, end] = [`<!-- bench ${arch()} -->`, `<!-- end of bench ${arch()} -->`]
  const before = await readFile(page, 'utf8')
  const [from, to] = [before.indexOf(start), before.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${page.pathname} has no lines ${start} and ${end} around a table`)
  await writeFile(page, `${before.slice(0, from)}${start}\n${reportText(report)}\n${before.slice(to)}`)
  const svg = picture(report.rows, machineText())
  if (svg) await writeFile(new URL(`peers-${arch()}.svg`, docs), svg)
}

function rowText(row: Row): string {
  const goal = 'atLeast' in row.goal ? `≥ ${row.goal.atLeast}` : `≤ ${row.goal.atMost}`
  return `| ${row.what} | ${row.measured} | ${row.against} | ${row.ratio.toFixed(2)} | ${goal} | ${isGoalMet(row) ? '✓' : '✗'} |`
}

function firstLine(error: unknown): string {
  return String(error).split('\n', 1)[0] as string
}

/** Node does not know the names of arm64 processors. */
function processorName(): string {
  const name = cpus()[0]?.model.trim()
  if (name && name !== 'unknown') return name
  try {
    return /^Model name:\s*(.+)$/m.exec(execFileSync('lscpu', { encoding: 'utf8' }))?.[1] ?? 'unnamed processor'
  } catch {
    return 'unnamed processor'
  }
}
