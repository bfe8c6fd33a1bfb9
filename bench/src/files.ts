// Requests about files, and transfers of small files: the most frequent work of a gateway.

import { sendBytes, textOf } from './bytes.ts'
import { REQUESTS, routeOf, SMALL, startGrown } from './growth.ts'
import { lockerClient } from './locker-client.ts'
import { type Route, requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { best, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { BARE_PROGRAM, type Operations, operationsPerCpuSecond } from './signed.ts'

const ROUNDS = scaled(3, 1)
const SMALL_BYTES = 1024
const TYPE = { 'content-type': 'application/octet-stream' }

export async function fileRows(): Promise<Row[]> {
  const [grown, bareSigned, gateway, bare] = [
    await startGrown('SQLite', SMALL, { onOneCore: true }),
    await startServer('bare-signed', { FILES: String(SMALL.files) }, { onOneCore: true }),
    await startServer('lockers', { LOG_LEVEL: 'warn' }, { onOneCore: true }),
    await startServer('bare-bytes', {}, { onOneCore: true }),
  ]
  const rows = [...(await requestRows(grown, bareSigned)), ...(await smallFileRows(gateway, bare))]
  for (const server of [grown, bareSigned, gateway, bare]) await server.stop()
  return rows
}

/** Signed requests, compared with a bare program that keeps the same promises, and with their signatures alone. */
async function requestRows(gateway: ServerProcess, bare: ServerProcess): Promise<Row[]> {
  return [
    ...(await comparedRows({ gateway, bare }, 'create a file', { verifications: 1, signatures: 3 }, 0.55)),
    ...(await comparedRows({ gateway, bare }, 'URLs of ten files', { verifications: 1, signatures: 10 }, 0.6)),
    ...(await comparedRows({ gateway, bare }, 'a page of 100 files', { verifications: 1, signatures: 0 }, 0.2)),
  ]
}

async function comparedRows(
  servers: Record<'gateway' | 'bare', ServerProcess>,
  what: keyof typeof REQUESTS,
  operations: Operations,
  atLeast: number,
): Promise<Row[]> {
  const rates = { gateway: [] as number[], bare: [] as number[], alone: [] as number[] }
  const names = ['gateway', 'bare'] as const
  const routes = names.map((name) => [name, routeOf(servers[name], REQUESTS[what], SMALL.files)] as const)
  for (const [name, route] of routes) await warmUp(servers[name], route)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, route] of routes) {
      rates.alone.push(operationsPerCpuSecond(operations))
      rates[name].push(await requestsPerCpuSecond(servers[name], route))
    }
  }
  const [ours, theirs, alone] = [rates.gateway, rates.bare, rates.alone].map(best) as [number, number, number]
  const measured = `${ours.toFixed(0)} per CPU second`
  const { signatures } = operations
  const counted = `one verification${signatures > 0 ? ` and ${signatures} signatures` : ''} alone`
  return [
    { what, measured, against: `${counted}: ${alone.toFixed(0)}`, ratio: ours / alone, goal: { atLeast } },
    { what, measured, against: `${BARE_PROGRAM}: ${theirs.toFixed(0)}`, ratio: ours / theirs, goal: { atLeast: 0.6 } },
  ]
}

/** Small files by short URL and by public link, compared with the same file through bare node:http. */
async function smallFileRows(gateway: ServerProcess, bare: ServerProcess): Promise<Row[]> {
  const client = lockerClient(gateway)
  const { upload_url, download_url } = await client.create('small')
  const bareRoute: Route = { path: '/small' }
  for (const url of [upload_url, bare.url + bareRoute.path]) {
    await textOf(await sendBytes({ url, headers: TYPE }, SMALL_BYTES))
  }
  const routes: Record<string, Route> = {
    'a short URL': { path: new URL(download_url).pathname },
    'the public link': { path: `/v1/r/${client.locker.receipt_id}/f/small` },
  }
  const rows: Row[] = []
  for (const [by, route] of Object.entries(routes)) {
    const ours: number[] = []
    const theirs: number[] = []
    await warmUp(gateway, route)
    await warmUp(bare, bareRoute)
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await requestsPerCpuSecond(bare, bareRoute))
      ours.push(await requestsPerCpuSecond(gateway, route))
    }
    rows.push({
      what: `GET of 1 KiB by ${by}`,
      measured: `${best(ours).toFixed(0)} per CPU second`,
      against: `the same file through bare node:http: ${best(theirs).toFixed(0)}`,
      ratio: best(ours) / best(theirs),
      goal: { atLeast: 0.5 },
    })
  }
  return rows
}
