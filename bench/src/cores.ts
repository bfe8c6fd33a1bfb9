// The gain of a second core: signed requests per second of wall-clock time.

import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Row } from './row.ts'
import type { Throughput } from './servers/signed-throughput.ts'

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
  const measure = (cores: Cores) => ({
    bare: confined<number>(cores, 'bare-verifying', cores === 'one' ? '1' : '2'),
    ...confined<Throughput>(cores, 'signed-throughput', dialect, String(processes[cores])),
  })
  const runs = { one: measure('one'), two: measure('two') }
  const rate = (cores: Cores) => runs[cores].perSecond
  const cost = (cores: Cores) => runs[cores].cpuMicroseconds
  const on = (cores: Cores) => `${processes[cores]} process${processes[cores] > 1 ? 'es' : ''}`
  const gain = rate('two') / rate('one')
  const bareGain = runs.two.bare / runs.one.bare
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
