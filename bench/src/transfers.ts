import { createHash } from 'node:crypto'
import { drainBytes, GIBIBYTE, secondsOf, sendBytes, textOf } from './bytes.ts'
import { lockerClient } from './locker-client.ts'
import { median, type Row } from './row.ts'
import { scaled, sizeText } from './scale.ts'
import { startServer } from './server-process.ts'

const ROUNDS = scaled(5, 1)
const SIZE = scaled(GIBIBYTE, GIBIBYTE / 8)
const AT_ONCE = 8
const TYPE = { 'content-type': 'application/octet-stream' }

const mebibytes = (seconds: number) => `${(SIZE / 1_048_576 / seconds).toFixed(0)} MiB/s`

/** Bytes through the gateway on its local provider, against the same disk without a gateway. */
export async function transferRows(): Promise<Row[]> {
  const bare = await startServer('bare-bytes')
  const gateway = await startServer('lockers', { LOG_LEVEL: 'warn' })
  const client = lockerClient(gateway)
  const seconds = { barePut: [] as number[], put: [] as number[], bareGet: [] as number[], get: [] as number[] }
  const confirmations: number[] = []
  const hashings: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { upload_url, download_url } = await client.create('large')
    const bareUrl = `${bare.url}/large`
    const send = async (url: string) => textOf(await sendBytes({ url, headers: TYPE }, SIZE))
    seconds.barePut.push(await secondsOf(() => send(bareUrl)))
    seconds.put.push(await secondsOf(() => send(upload_url)))
    hashings.push(await secondsOf(async () => hashOf(SIZE)))
    confirmations.push(await secondsOf(() => client.confirm('large')))
    seconds.bareGet.push(await secondsOf(() => drainBytes(bareUrl)))
    seconds.get.push(await secondsOf(() => drainBytes(download_url)))
    await client.remove('large')
  }
  await bare.stop()
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
    row(`GET of ${sizeText(SIZE)}`, seconds.get, 'a file into bare node:http', seconds.bareGet, 0.9),
    row(`upload confirmation, ${sizeText(SIZE)}`, confirmations, 'SHA-256 of node:crypto in memory', hashings, 0.85),
    await memoryRow(),
  ]
}

/** Uses a new gateway that has done nothing else. */
async function memoryRow(): Promise<Row> {
  const gateway = await startServer('lockers', { LOG_LEVEL: 'warn' })
  const client = lockerClient(gateway)
  const files = Array.from({ length: AT_ONCE }, (_, i) => `file-${i}`)
  const urls = await Promise.all(files.map((name) => client.create(name)))
  const idle = await gateway.peakMemory(async () => {})
  const send = async (url: string) => textOf(await sendBytes({ url, headers: TYPE }, SIZE))
  const peakIn = await gateway.peakMemory(() => Promise.all(urls.map(({ upload_url }) => send(upload_url))))
  const peakOut = await gateway.peakMemory(() => Promise.all(urls.map(({ download_url }) => drainBytes(download_url))))
  await gateway.stop()
  const peak = Math.max(peakIn, peakOut)
  return {
    what: `memory, ${AT_ONCE} × ${sizeText(SIZE)} in, then out, at once`,
    measured: `${peakIn.toFixed(0)} MiB in, ${peakOut.toFixed(0)} out (${idle.toFixed(0)} before)`,
    against: '250 MiB',
    ratio: peak / 250,
    goal: { atMost: 1 },
  }
}

function hashOf(length: number): string {
  const chunk = Buffer.alloc(1_048_576, 'svc')
  const hash = createHash('sha256')
  for (let left = length; left > 0; left -= chunk.length) hash.update(chunk)
  return hash.digest('hex')
}
