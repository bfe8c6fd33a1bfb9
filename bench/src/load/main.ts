// `npm run load`: finds the highest mixed load that a gateway serves on this machine, holds it there, then overloads
// the gateway, and measures whether slow clients and dependencies harm other requests.

import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { loadTable } from './report.ts'
import { type LoadOptions, runLoad } from './run.ts'

const USAGE = `npm run load -- [options]
  --minutes n       how long the load is held (10; a fraction such as 0.5 is fine)
  --engine name     postgres (default) or sqlite
  --rate n|auto     requests per second, or as many as it takes (auto)
  --json file       writes the figures there, too`

const options = readOptions()
if (typeof options === 'string') {
  console.error(options)
  process.exit(2)
}
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())
const result = await runLoad(options, (line) => console.error(line), stop.signal).catch(endEarly)
console.log(loadTable(result))
if (options.json) await writeFile(options.json, JSON.stringify(result, null, 2))
process.exit(result.problems.length === 0 ? 0 : 1)

/** Ctrl-C ends a run without an error; anything else is an error. */
function endEarly(error: Error): never {
  if (!stop.signal.aborted) throw error
  process.exit(130)
}

function readOptions(): (LoadOptions & { json: string | null }) | string {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({ options: { minutes: text, engine: text, rate: text, json: text } })
    const { engine = 'postgres', rate = 'auto', json = null } = values
    if (engine !== 'postgres' && engine !== 'sqlite') return `unknown engine: ${engine}\n${USAGE}`
    return {
      engine,
      minutes: readNumber(values.minutes ?? '10'),
      rate: rate === 'auto' ? null : readNumber(rate),
      json,
    }
  } catch (error) {
    return `${(error as Error).message}\n${USAGE}`
  }
}

function readNumber(text: string): number {
  const value = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0
  if (value > 0) return value
  throw new Error(`"${text}" is not a number above 0`)
}
