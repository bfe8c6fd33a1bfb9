import autocannon from 'autocannon'
import { median, type Row } from './row.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const PATH = '/v1/short-url/verify-key'
const ROUNDS = 5
const SECONDS = 3

export async function httpRows(): Promise<Row[]> {
  const servers = {
    quiet: await startServer('gateway', { LOG_LEVEL: 'warn' }),
    logging: await startServer('gateway', { LOG_LEVEL: 'info' }),
    bare: await startServer('bare-fastify'),
  }
  const rates = { quiet: [] as number[], logging: [] as number[], bare: [] as number[] }
  for (const server of Object.values(servers)) await load(server)
  for (let i = 0; i < ROUNDS; i++) {
    for (const name of Object.keys(rates) as (keyof typeof rates)[])
      rates[name].push(await requestsPerCpuSecond(servers[name]))
  }
  await Promise.all(Object.values(servers).map((server) => server.stop()))
  const bare = median(rates.bare)
  const row = (what: string, rate: number, atLeast: number): Row => ({
    what,
    measured: `${rate.toFixed(0)} requests per CPU second`,
    against: `bare Fastify: ${bare.toFixed(0)}`,
    ratio: rate / bare,
    goal: { atLeast },
  })
  return [
    row('small JSON route', median(rates.quiet), 0.9),
    row('small JSON route, a log line per request', median(rates.logging), 0.7),
  ]
}

async function requestsPerCpuSecond(server: ServerProcess): Promise<number> {
  const before = await server.cpuSeconds()
  const requests = await load(server)
  return requests / ((await server.cpuSeconds()) - before)
}

async function load({ url }: ServerProcess): Promise<number> {
  const result = await autocannon({ url: url + PATH, connections: 32, duration: SECONDS })
  if (result.errors > 0 || result.non2xx > 0)
    throw new Error(`${url}: ${result.errors} errors, ${result.non2xx} not 2xx`)
  return result.requests.total
}
