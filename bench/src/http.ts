import autocannon from 'autocannon'
import { median, type Row } from './row.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const PATH = '/v1/short-url/verify-key'
const ROUNDS = 5
const SECONDS = 3

export async function httpRows(): Promise<Row[]> {
  const ours = await startServer('gateway')
  const bare = await startServer('bare-fastify')
  await Promise.all([load(ours), load(bare)])
  const rates: { ours: number; bare: number }[] = []
  for (let i = 0; i < ROUNDS; i++)
    rates.push({ ours: await requestsPerCpuSecond(ours), bare: await requestsPerCpuSecond(bare) })
  await Promise.all([ours.stop(), bare.stop()])
  const rate = { ours: median(rates.map((r) => r.ours)), bare: median(rates.map((r) => r.bare)) }
  return [
    {
      what: 'small JSON route, with log and request ids',
      measured: `${rate.ours.toFixed(0)} requests per CPU second`,
      against: `bare Fastify: ${rate.bare.toFixed(0)}`,
      ratio: rate.ours / rate.bare,
      goal: { atLeast: 0.9 },
    },
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
