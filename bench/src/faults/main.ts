// `npm run faults`: kills gateways at random moments of a mixed load, makes everything they depend on fail, and then
// checks that they kept everything they acknowledged.

import { randomInt } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { FAULT_NAMES, type FaultName } from './faults.ts'
import { type FaultsOptions, runFaults } from './run.ts'
import { summaryTable } from './summary.ts'

const USAGE = `npm run faults -- [options]
  --rounds n         how many gateways are killed (200)
  --engine name      postgres (default) or sqlite
  --replicas n       gateways on one database (3; always 1 with sqlite)
  --buyers n         how many buyers there are at once (6)
  --faults list      what else fails, comma-separated: ${FAULT_NAMES.join(', ')} (all), or none
  --seed n           repeats the choices of an earlier run
  --json file        writes the summary there, too`

const options = readOptions()
if (typeof options === 'string') {
  console.error(options)
  process.exit(2)
}
console.error(`seed ${options.seed}`)
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())
const summary = await runFaults(options, (line) => console.error(line), stop.signal).catch(endEarly)
console.log(summaryTable(summary))
if (options.json) await writeFile(options.json, JSON.stringify(summary, null, 2))
if (summary.isGood) await rm(summary.logFile, { force: true })
else console.error(`gateway log: ${summary.logFile}; repeat this run with --seed ${options.seed}`)
process.exit(summary.isGood ? 0 : 1)

/** Ctrl-C ends a run without an error; anything else is an error. */
function endEarly(error: Error): never {
  if (!stop.signal.aborted) throw error
  process.exit(130)
}

function readOptions(): (FaultsOptions & { json: string | null }) | string {
  const text = { type: 'string' } as const
  const names = { rounds: text, engine: text, replicas: text, buyers: text, faults: text, seed: text, json: text }
  try {
    const { values } = parseArgs({ options: names })
    const engine = values.engine ?? 'postgres'
    if (engine !== 'postgres' && engine !== 'sqlite') return `unknown engine: ${engine}\n${USAGE}`
    const named = values.faults === 'none' ? [] : (values.faults?.split(',') ?? FAULT_NAMES)
    const unknown = named.find((name) => !FAULT_NAMES.includes(name as FaultName))
    if (unknown !== undefined) return `unknown fault: ${unknown}\n${USAGE}`
    return {
      engine,
      rounds: readCount(values.rounds, 200),
      replicas: engine === 'sqlite' ? 1 : readCount(values.replicas, 3),
      buyers: readCount(values.buyers, 6),
      faults: named as FaultName[],
      seed: readCount(values.seed, randomInt(1, 1_000_000)),
      json: values.json ?? null,
    }
  } catch (error) {
    return `${(error as Error).message}\n${USAGE}`
  }
}

function readCount(text: string | undefined, byDefault: number): number {
  if (text === undefined) return byDefault
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`"${text}" is not a number above 0`)
  return Number(text)
}
