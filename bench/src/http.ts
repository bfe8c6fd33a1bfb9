import { requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { startServer } from './server-process.ts'

const LAUNCHES = scaled(3, 1)
const ROUNDS = scaled(2, 1)
const ROUTE = { path: '/v1/short-url/verify-key' }

const SERVERS: Record<'bare' | 'quiet' | 'logging', [name: string, variables?: Record<string, string>]> = {
  bare: ['bare-fastify'],
  quiet: ['gateway', { LOG_LEVEL: 'warn' }],
  logging: ['gateway', { LOG_LEVEL: 'info' }],
}

/** Two starts of the same server differ by up to a fifth, so each server is started several times. */
export async function httpRows(): Promise<Row[]> {
  const rates = { bare: [] as number[], quiet: [] as number[], logging: [] as number[] }
  for (let launch = 0; launch < LAUNCHES; launch++) {
    for (const name of Object.keys(rates) as (keyof typeof rates)[]) {
      const server = await startServer(...SERVERS[name])
      await warmUp(server, ROUTE)
      for (let round = 0; round < ROUNDS; round++) rates[name].push(await requestsPerCpuSecond(server, ROUTE))
      await server.stop()
    }
  }
  const bare = median(rates.bare)
  const row = (what: string, rate: number, atLeast: number): Row => ({
    what,
    measured: `${rate.toFixed(0)} requests per CPU second`,
    against: `bare Fastify, same answer: ${bare.toFixed(0)}`,
    ratio: rate / bare,
    goal: { atLeast },
  })
  return [
    row('small JSON route', median(rates.quiet), 1),
    row('small JSON route, a log line per request', median(rates.logging), 0.9),
  ]
}
