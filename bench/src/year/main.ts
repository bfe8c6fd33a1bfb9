// `npm run simulate`: a year of a gateway with 1,000,000 lockers, in rows, bytes, processors and fees.
//
//   npm run simulate -- --lockers 100000     another number
//   npm run simulate -- --anchors 1          at most so many anchors of a locker in a day, as ANCHORS_PER_DAY
//   npm run simulate -- --seed 7             other customers

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { seededRandom } from '../mixed/random.ts'
import { LAMPORTS_PER_ANCHOR, PEAK, USD } from './customers.ts'
import { type EventBytes, LARGE_FILES, measureEvents, SMALL_FILES } from './sample.ts'
import { type Counts, type Day, type Month, simulateYear } from './simulate.ts'

const PERFORMANCE = new URL('../../../docs/performance.md', import.meta.url)
const QUARTERS = [3, 6, 9, 12]
const SECONDS_OF_A_DAY = 86_400

/** Rows of the performance table: how many of each one processor does in a second, on PostgreSQL where it matters. */
const MEASURED = {
  quotes: 'quote with all nine legs',
  purchases: 'confirmation, first, of a payment on the primary chain',
  uploads: 'against peers: store objects of 1 KiB',
  statements: 'PostgreSQL: attestation of a locker with 10 files, beside 1,000,000 files',
  reads: 'GET of 1 KiB by a short URL',
} as const satisfies Record<keyof Day, string>

const { values } = parseArgs({
  options: {
    lockers: { type: 'string', default: '1000000' },
    anchors: { type: 'string', default: '48' },
    seed: { type: 'string', default: '1' },
  },
})
const [lockers, anchorsPerDay, seed] = [values.lockers, values.anchors, values.seed].map(Number) as [
  number,
  number,
  number,
]
if (![lockers, anchorsPerDay, seed].every(Number.isSafeInteger) || lockers < 365) {
  process.stderr.write('--lockers (at least 365), --anchors and --seed are whole numbers\n')
  process.exit(2)
}

const rates = readRates()
process.stderr.write('Measuring what events add to a database …\n')
const bytes = await measureEvents()
process.stderr.write(`Simulating a year of ${amount(lockers)} lockers …\n`)
const startedAt = performance.now()
const { months, lockerDays } = simulateYear({ lockers, anchorsPerDay, random: seededRandom(seed).next })
const seconds = (performance.now() - startedAt) / 1000

print('One of each', ['what', 'database', 'processor'], eventRows(bytes))
print(
  'The year',
  ['at the end of', ...QUARTERS.map((month) => `month ${month}`)],
  yearRows(QUARTERS.map((month) => months[month - 1] as Month)),
)
process.stdout.write(`\n${amount(lockerDays)} days of lockers were simulated in ${seconds.toFixed(1)} s.\n`)
process.exit(0)

function readRates(): Record<keyof Day, number> {
  const text = readFileSync(PERFORMANCE, 'utf8')
  const rateOf = (what: string) => {
    const row = text.split('\n').find((line) => line.startsWith(`| ${what} |`))
    const rate = /\| (\d+) per CPU second/.exec(row ?? '')?.[1]
    if (rate === undefined) throw new Error(`docs/performance.md has no row "${what}"`)
    return Number(rate)
  }
  return Object.fromEntries(Object.entries(MEASURED).map(([name, what]) => [name, rateOf(what)])) as never
}

function eventRows(of: EventBytes): string[][] {
  const cpu = (...names: (keyof Day)[]) => `${names.reduce((sum, name) => sum + 1000 / rates[name], 0).toFixed(1)} ms`
  return [
    ['a quote', sizeText(of.quote), cpu('quotes')],
    ['a purchase: receipt and locker', sizeText(of.purchase), cpu('purchases')],
    ['a small file stored', sizeText(of.file), cpu('uploads')],
    [
      `a statement about ${amount(SMALL_FILES)} files, a few of them changed`,
      sizeText(of.smallStatement),
      cpu('statements'),
    ],
    [
      `a statement about ${amount(LARGE_FILES)} files, a few of them changed`,
      sizeText(of.largeStatement),
      cpu('statements'),
    ],
    [`an anchor on chain, ${amount(LAMPORTS_PER_ANCHOR)} lamports`, sizeText(of.anchor), '—'],
    ['a small file read', '—', cpu('reads')],
  ]
}

function yearRows(quarters: readonly Month[]): string[][] {
  const row = (what: string, of: (month: Month) => string) => [what, ...quarters.map(of)]
  const perSecond = (of: (day: Day) => number) => (month: Month) => (of(month.day) / SECONDS_OF_A_DAY).toFixed(1)
  const requests = (day: Day) => day.quotes + day.purchases + day.uploads + day.statements + day.reads
  return [
    row('lockers', ({ counts }) => amount(counts.lockers)),
    row('files', ({ counts }) => amount(counts.files)),
    row('stored at providers', ({ counts }) => sizeText(counts.storedBytes)),
    row('statements', ({ counts }) => amount(counts.statementsOfSmall + counts.statementsOfLarge)),
    row('anchors', ({ counts }) => amount(counts.anchors)),
    row('database', ({ counts }) => sizeText(databaseBytes(counts))),
    row('… of it statements', ({ counts }) => sizeText(statementBytes(counts))),
    row('requests per second', perSecond(requests)),
    row(
      'statements per second',
      perSecond((day) => day.statements),
    ),
    row('processors, busiest hour', ({ day }) => processors(day).toFixed(1)),
    row('fees since the start, an anchor for each statement', ({ counts }) => feeText(counts.anchors)),
    row(
      '… of what was sold',
      ({ counts }) => `${((100 * feeUsd(counts.anchors)) / (counts.lockers * USD.locker)).toFixed(0)} %`,
    ),
    row('fees since the start, one anchored checkpoint every ten minutes', ({ counts }) =>
      feeText(144 * ((counts.lockers / lockers) * 365)),
    ),
  ]
}

function databaseBytes(counts: Counts): number {
  const { quote, purchase, file, anchor } = bytes
  const events: [number, number][] = [
    [counts.quotes, quote],
    [counts.lockers, quote + purchase],
    [counts.files, file],
    [counts.anchors, anchor],
  ]
  return events.reduce((sum, [count, size]) => sum + count * size, statementBytes(counts))
}

function statementBytes({ statementsOfSmall, statementsOfLarge }: Counts): number {
  return statementsOfSmall * bytes.smallStatement + statementsOfLarge * bytes.largeStatement
}

function processors(day: Day): number {
  const names = Object.keys(rates) as (keyof Day)[]
  return names.reduce((sum, name) => sum + (PEAK * day[name]) / SECONDS_OF_A_DAY / rates[name], 0)
}

function feeUsd(anchors: number): number {
  return ((anchors * LAMPORTS_PER_ANCHOR) / 1e9) * USD.SOL
}

function feeText(anchors: number): string {
  const sol = (anchors * LAMPORTS_PER_ANCHOR) / 1e9
  return `${sol < 10 ? sol.toFixed(2) : amount(sol)} SOL`
}

function print(title: string, head: readonly string[], rows: readonly string[][]): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  process.stdout.write(`\n${title}\n\n${line(head)}${line(head.map(() => '---'))}${rows.map(line).join('')}`)
}

function amount(count: number): string {
  return Math.round(count).toLocaleString('en')
}

function sizeText(size: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(size, 1)) / 3))
  const value = size / 1000 ** power
  return `${value.toFixed(value < 10 && power > 0 ? 1 : 0)} ${units[power]}`
}
