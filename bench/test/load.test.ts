import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { loadTable } from '../src/load/report.ts'
import { type LoadResult, problemsOf } from '../src/load/run.ts'
import { createRecorder } from '../src/load/stats.ts'
import { watchUsage } from '../src/load/usage.ts'

const recorder = createRecorder()
for (let ms = 1; ms <= 100; ms++) recorder.observe({ operation: 'price', status: 200, code: null, ms })
recorder.observe({ operation: 'quote', status: 402, code: null, ms: 5 })

const calm = { burstP99: 600, calmP50: 2, calmP99: 9, admittedP50: 4, admittedP99: 12, refusedP50: 1, refusedP99: 8 }
const good: LoadResult = {
  options: { engine: 'sqlite', minutes: 10, rate: null },
  rate: 120,
  answeredPerSecond: 119.6,
  operations: recorder.stats(),
  errors: {},
  usage: {
    mebibytes: { middle: 200, end: 201, slopePerHour: 3 },
    descriptors: { middle: 60, end: 60, slopePerHour: 0 },
  },
  overload: { offeredPerSecond: 4000, admittedPerSecond: 900, shed: 30_000, otherErrors: 0, ...calm },
  neighbours: [{ name: 'slow chain', p99Before: 8, p99Meanwhile: 9, errors: 0, isHarmful: false }],
  problems: [],
}

it('ADD-32 the table of a load run shows percentiles of every operation, resource usage, overload and slow neighbours', () => {
  const text = loadTable(good)
  expect(text).toContain('sqlite, 120 requests per second for 10 minutes')
  expect(text).toContain('| price | 100 | 51 | 96 | 100 | 0 |')
  expect(text).toContain('| quote | 1 | 5.0 | 5.0 | 5.0 | 0 |')
  expect(text).toContain('| memory of all processes, MiB | 200 | 201 | 3 |')
  expect(text).toContain('| refused with 503 and Retry-After: 30000 | | 1.0 | 8.0 |')
  expect(text).toContain('| slow chain | 8.0 | 9.0 | 0 |')
  expect(text).toContain('No problems found.')
})

it('ADD-32 a run reports its problems', () => {
  const failing = createRecorder()
  failing.observe({ operation: 'price', status: 500, code: 'internal_error', ms: 1 })
  failing.observe({ operation: 'price', status: null, code: null, ms: 1 })
  expect(failing.errors()).toEqual({ 'price: 500 internal_error': 1, 'price: no answer': 1 })
  expect(problemsOf(good)).toEqual([])
  const bad: LoadResult = {
    ...good,
    operations: failing.stats(),
    usage: {
      mebibytes: { middle: 200, end: 300, slopePerHour: 1000 },
      descriptors: { middle: 60, end: 200, slopePerHour: 1000 },
    },
    overload: { ...good.overload, refusedP99: 51, otherErrors: 2 },
    neighbours: [{ name: 'slow client', p99Before: 8, p99Meanwhile: 900, errors: 0, isHarmful: true }],
  }
  expect(problemsOf(bad)).toEqual([
    '2 requests failed while the load was held',
    'memory grows',
    'descriptors grow',
    '2 other errors under overload',
    'refusals took 51 ms',
    'a slow client slows other requests down',
  ])
  expect(problemsOf({ ...good, overload: { ...good.overload, shed: 0 } })).toEqual([
    'nothing was refused under overload',
  ])
})

it('ADD-32 too few samples of memory give no result', () => {
  expect(watchUsage(process.pid).stop()).toBeNull()
})

it('every server that a benchmark or the load starts is there', () => {
  const source = fileURLToPath(new URL('../src', import.meta.url))
  const files = globSync('**/*.ts', { cwd: source }).map((file) => readFileSync(`${source}/${file}`, 'utf8'))
  const names = files.flatMap((text) => [...text.matchAll(/startServer\('([^']+)'/g)].map(([, name]) => name))
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !existsSync(`${source}/servers/${name}.ts`))).toEqual([])
})
