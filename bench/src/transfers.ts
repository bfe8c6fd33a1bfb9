import { createHash } from 'node:crypto'
import { drainFast, GIBIBYTE, secondsOf, sendBytes, textOf } from './bytes.ts'
import { lockerClient } from './locker-client.ts'
import { memoryRows } from './memory.ts'
import { median, type Row } from './row.ts'
import { scaled, sizeText } from './scale.ts'
import { startServer } from './server-process.ts'
import { startNginx } from './servers/nginx.ts'

const ROUNDS = scaled(2, 1)
const SIZE = scaled(GIBIBYTE, GIBIBYTE / 8)
const TYPE = { 'content-type': 'application/octet-stream' }

const times = (): number[] => []
const mebibytes = (seconds: number) => `${(SIZE / 1_048_576 / seconds).toFixed(0)} MiB/s`

/** Compares transfers through the gateway on its local provider with the same disk without a gateway. */
export async function transferRows(): Promise<Row[]> {
  const bare = await startServer('bare-bytes')
  const nginx = await startNginx()
  const gateway = await startServer('lockers', { LOG_LEVEL: 'warn' })
  const client = lockerClient(gateway)
  const seconds = { barePut: times(), put: times(), bareGet: times(), get: times(), nginxGet: times() }
  const confirmations: number[] = []
  const hashings: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { upload_url, download_url } = await client.create('large')
    const bareUrl = `${bare.url}/large`
    const nginxUrl = nginx && `${nginx.url}/large`
    const send = async (url: string) => textOf(await sendBytes({ url, headers: TYPE }, SIZE))
    if (nginxUrl && round === 0) await send(nginxUrl)
    seconds.barePut.push(await secondsOf(() => send(bareUrl)))
    seconds.put.push(await secondsOf(() => send(upload_url)))
    hashings.push(await secondsOf(async () => hashOf(SIZE)))
    confirmations.push(await secondsOf(() => client.confirm('large')))
    seconds.bareGet.push(await secondsOf(() => drainFast(bareUrl)))
    seconds.get.push(await secondsOf(() => drainFast(download_url)))
    if (nginxUrl) seconds.nginxGet.push(await secondsOf(() => drainFast(nginxUrl)))
    await client.remove('large')
  }
  await bare.stop()
  await nginx?.stop()
  await gateway.stop()
  const row = (what: string, ours: number[], against: string, theirs: number[], atLeast: number): Row => ({
    what,
    measured: mebibytes(median(ours)),
    against: `${against}: ${mebibytes(median(theirs))}`,
    ratio: median(theirs) / median(ours),
    goal: { atLeast },
  })
  return [
    row(
      `PUT of ${sizeText(SIZE)}, durable`,
      seconds.put,
      'bare node:http into a file, with the same fsync',
      seconds.barePut,
      0.9,
    ),
    row(`GET of ${sizeText(SIZE)}`, seconds.get, 'a file into bare node:http', seconds.bareGet, 1),
    ...(nginx ? [row(`GET of ${sizeText(SIZE)}`, seconds.get, 'nginx with sendfile', seconds.nginxGet, 0.5)] : []),
    row(`upload confirmation, ${sizeText(SIZE)}`, confirmations, 'SHA-256 of node:crypto in memory', hashings, 0.9),
    ...(await memoryRows()),
  ]
}

function hashOf(length: number): string {
  const chunk = Buffer.alloc(1_048_576, 'svc')
  const hash = createHash('sha256')
  for (let left = length; left > 0; left -= chunk.length) hash.update(chunk)
  return hash.digest('hex')
}
