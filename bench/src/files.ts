// Requests about files, and transfers of small files: the most frequent work of a gateway.

import { ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { sendBytes, textOf } from './bytes.ts'
import { REQUESTS, routeOf, SMALL, startGrown } from './growth.ts'
import { lockerClient } from './locker-client.ts'
import { type Route, requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { ownerSeed } from './signed-requests.ts'

const ROUNDS = scaled(5, 1)
const CREATES_PER_CPU_SECOND = 2000
const SMALL_BYTES = 1024
const TYPE = { 'content-type': 'application/octet-stream' }

export async function fileRows(): Promise<Row[]> {
  const [grown, gateway, bare] = [
    await startGrown('SQLite', SMALL),
    await startServer('lockers', { LOG_LEVEL: 'warn' }),
    await startServer('bare-bytes'),
  ]
  const rows = [...(await requestRows(grown)), ...(await smallFileRows(gateway, bare))]
  for (const server of [grown, gateway, bare]) await server.stop()
  return rows
}

/** Signed requests, compared with the signatures alone: the request's own and the ones in its returned URLs. */
async function requestRows(gateway: ServerProcess): Promise<Row[]> {
  const creates = await compare(gateway, 'create a file', 3)
  const urls = await compare(gateway, 'URLs of ten files', 10)
  const pages = await compare(gateway, 'a page of 100 files', 0)
  return [
    {
      what: 'create a file',
      measured: `${creates.rate.toFixed(0)} per CPU second`,
      against: `${CREATES_PER_CPU_SECOND}`,
      ratio: creates.rate / CREATES_PER_CPU_SECOND,
      goal: { atLeast: 1 },
    },
    floorRow('create a file', creates, 'one verification and three signatures', 0.5),
    floorRow('URLs of ten files', urls, 'one verification and ten signatures', 0.6),
    floorRow('a page of 100 files', pages, 'one verification', 0.2),
  ]
}

interface Compared {
  rate: number
  floor: number
}

async function compare(gateway: ServerProcess, what: keyof typeof REQUESTS, signatures: number): Promise<Compared> {
  const route = routeOf(gateway, REQUESTS[what], SMALL.files)
  const rates: number[] = []
  const floors: number[] = []
  await warmUp(gateway, route)
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(signedPerCpuSecond(signatures))
    rates.push(await requestsPerCpuSecond(gateway, route))
  }
  return { rate: median(rates), floor: median(floors) }
}

function floorRow(what: string, { rate, floor }: Compared, against: string, atLeast: number): Row {
  return {
    what,
    measured: `${rate.toFixed(0)} per CPU second`,
    against: `${against} alone: ${floor.toFixed(0)}`,
    ratio: rate / floor,
    goal: { atLeast },
  }
}

/** How often per CPU second a message can be verified and this many others signed. */
function signedPerCpuSecond(signatures: number): number {
  const signer = ed25519Signer(ownerSeed(0))
  const key = ed25519PublicKey(signer.publicKey)
  const message = new Uint8Array(400).fill(1)
  const signature = signer.sign(message)
  const start = process.cpuUsage()
  const times = 1000
  for (let i = 0; i < times; i++) {
    if (!key?.verify(message, signature)) throw new Error('the signature is invalid')
    for (let n = 0; n < signatures; n++) signer.sign(message)
  }
  const { user, system } = process.cpuUsage(start)
  return times / ((user + system) / 1e6)
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
      measured: `${median(ours).toFixed(0)} per CPU second`,
      against: `the same file through bare node:http: ${median(theirs).toFixed(0)}`,
      ratio: median(ours) / median(theirs),
      goal: { atLeast: 0.5 },
    })
  }
  return rows
}
