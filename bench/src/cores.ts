// The gain of a second core: signed requests per second of wall-clock time.

import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import type { Throughput } from './servers/signed-throughput.ts'

const ROUNDS = scaled(3, 1)
const CORES = { one: '0', two: '0,1' }

/**
 * Everything is confined: the gateway, its database and the load share one core, then two. Otherwise the load and the
 * database would have a second core even in the first measurement. Only Linux can confine processes.
 */
export async function coresRows(): Promise<Row[]> {
  if (process.platform !== 'linux' || availableParallelism() < 2) return []
  return [...rowsOf('PostgreSQL', 'postgres', { one: 1, two: 2 }), ...rowsOf('SQLite', 'sqlite', { one: 1, two: 1 })]
}

function rowsOf(name: string, dialect: string, processes: { one: number; two: number }): Row[] {
  const runs = { one: [] as Throughput[], two: [] as Throughput[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const cores of ['one', 'two'] as const) runs[cores].push(measure(cores, dialect, processes[cores]))
  }
  const rate = (cores: keyof typeof runs) => median(runs[cores].map(({ perSecond }) => perSecond))
  const cost = (cores: keyof typeof runs) => median(runs[cores].map(({ cpuMicroseconds }) => cpuMicroseconds))
  const on = (cores: keyof typeof runs) => `${processes[cores]} process${processes[cores] > 1 ? 'es' : ''}`
  return [
    {
      what: `signed requests with two cores against one, ${name}; load and database share them`,
      measured: `${rate('two').toFixed(0)} per second, ${on('two')}`,
      against: `${rate('one').toFixed(0)}, ${on('one')}`,
      ratio: rate('two') / rate('one'),
      goal: { atLeast: 1.7 },
    },
    {
      what: `processor time of the gateway for each of them, ${name}`,
      measured: `${cost('two').toFixed(0)} µs`,
      against: `${cost('one').toFixed(0)} µs`,
      ratio: cost('two') / cost('one'),
      goal: { atMost: 1.2 },
    },
  ]
}

function measure(cores: keyof typeof CORES, dialect: string, processes: number): Throughput {
  const program = fileURLToPath(new URL('./servers/signed-throughput.ts', import.meta.url))
  const args = ['-c', CORES[cores], process.execPath, program, dialect, String(processes)]
  const printed = execFileSync('taskset', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(printed.trim().split('\n').at(-1) as string) as Throughput
}
