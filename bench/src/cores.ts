// The gain of a second core: signed requests per second of wall-clock time.

import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import type { Throughput } from './servers/signed-throughput.ts'

const ROUNDS = scaled(2, 1)
const CORES = { one: '0', two: '0,1' }
type Cores = keyof typeof CORES
type Processes = Record<Cores, number>

/**
 * Everything is confined: the gateway, its database and the load share one core, then two. Otherwise the load and the
 * database would have a second core even in the first measurement. Only Linux can confine processes.
 */
export async function coresRows(): Promise<Row[]> {
  if (process.platform !== 'linux' || availableParallelism() < 2) return []
  return [...rowsOf('PostgreSQL', 'postgres', { one: 1, two: 2 }), ...rowsOf('SQLite', 'sqlite', { one: 1, two: 1 })]
}

function rowsOf(name: string, dialect: string, processes: Processes): Row[] {
  const runs = { one: [] as Throughput[], two: [] as Throughput[] }
  const bare = { one: [] as number[], two: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const cores of ['one', 'two'] as const) {
      bare[cores].push(confined(cores, 'bare-verifying', cores === 'one' ? '1' : '2'))
      runs[cores].push(confined(cores, 'signed-throughput', dialect, String(processes[cores])))
    }
  }
  const rate = (cores: Cores) => median(runs[cores].map(({ perSecond }) => perSecond))
  const cost = (cores: Cores) => median(runs[cores].map(({ cpuMicroseconds }) => cpuMicroseconds))
  const on = (cores: Cores) => `${processes[cores]} process${processes[cores] > 1 ? 'es' : ''}`
  const gain = rate('two') / rate('one')
  const bareGain = median(bare.two) / median(bare.one)
  return [
    {
      what: `gain of a second core for signed requests, ${name}; load and database share the cores`,
      measured: `${gain.toFixed(2)} ×: ${rate('two').toFixed(0)} per second, ${on('two')}; ${rate('one').toFixed(0)}, ${on('one')}`,
      against: `two processes that only verify signatures: ${bareGain.toFixed(2)} ×`,
      ratio: gain / bareGain,
      goal: { atLeast: 0.9 },
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

/** Runs a program on these cores only, and returns what it prints last. */
function confined<Result>(cores: Cores, name: string, ...args: string[]): Result {
  const program = fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url))
  const command = ['-c', CORES[cores], process.execPath, program, ...args]
  const printed = execFileSync('taskset', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(printed.trim().split('\n').at(-1) as string) as Result // each of them prints its result as JSON
}
