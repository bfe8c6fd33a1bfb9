import { requestsPerCpuSecond, warmUp } from './load.ts'
import { median, type Row } from './row.ts'
import { startServer } from './server-process.ts'

const ROUNDS = 5
const ROUTE = { path: '/v1/short-url/verify-key' }

export async function httpRows(): Promise<Row[]> {
  const servers = {
    quiet: await startServer('gateway', { LOG_LEVEL: 'warn' }),
    logging: await startServer('gateway', { LOG_LEVEL: 'info' }),
    bare: await startServer('bare-fastify'),
  }
  const rates = { quiet: [] as number[], logging: [] as number[], bare: [] as number[] }
  for (const server of Object.values(servers)) await warmUp(server, ROUTE)
  for (let i = 0; i < ROUNDS; i++) {
    for (const name of Object.keys(rates) as (keyof typeof rates)[])
      rates[name].push(await requestsPerCpuSecond(servers[name], ROUTE))
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
