import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setInterval } from 'node:timers'
import { openStorj } from '@svc/gateway/providers/storj/open'
import type { StorjSettings } from '@svc/gateway/providers/storj/settings'
import { startStorjServer } from '@svc/testbed/providers/storj/start'
import { drainBytes, secondsOf, textOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'
import { reportTo, startServer } from '../server-process.ts'

const ROUNDS = 5
const MIB = 1_048_576
const BYTES = 256 * MIB
const TYPE = 'application/octet-stream'
const MEMORY_GOAL_MIB = 96

// As a process of its own this file is the store, so that its work is not counted as the driver's.
if (process.send) await serve()

/** Bytes through the driver, against signed addresses of the same store without one. */
export async function storjRows(): Promise<Row[]> {
  const server = await startServer('../providers/storj')
  const provider = await openStorj(server.facts as StorjSettings) // as `serve` below tells them
  const seconds = { put: [] as number[], barePut: [] as number[], get: [] as number[], bareGet: [] as number[] }
  const peaks: number[] = []
  const about = { contentType: TYPE, expiresInSeconds: 600 }
  for (let round = 0; round < ROUNDS; round++) {
    const [key, bareKey] = [newKey(2 * round), newKey(2 * round + 1)]
    const upload = (await provider.uploadTarget(bareKey.id, about))!
    const download = (await provider.downloadTarget(key, about))!
    const put = () => provider.write(key.id, source(), { contentType: TYPE, size: BYTES })
    const get = async () => drain((await provider.read(key))!)
    seconds.barePut.push(await secondsOf(() => send(upload.url, upload.headers)))
    seconds.put.push(await secondsOf(async () => peaks.push(await extraMemory(put))))
    seconds.bareGet.push(await secondsOf(() => drainBytes(download.url)))
    seconds.get.push(await secondsOf(async () => peaks.push(await extraMemory(get))))
    for (const used of [key, bareKey]) await provider.remove(used)
  }
  await server.stop()
  const row = (what: string, ours: number[], against: string, theirs: number[]): Row => ({
    what: `storj: ${what} of 256 MiB`,
    measured: speed(ours),
    against: `${against}: ${speed(theirs)}`,
    ratio: median(theirs) / median(ours),
    goal: { atLeast: 0.8 },
  })
  return [
    row('PUT', seconds.put, 'node:http to a signed address', seconds.barePut),
    row('GET', seconds.get, 'node:http from a signed address', seconds.bareGet),
    {
      what: 'storj: memory while 256 MiB go in, then out',
      measured: `${Math.max(...peaks).toFixed(0)} MiB more than before`,
      against: `${MEMORY_GOAL_MIB} MiB`,
      ratio: Math.max(...peaks) / MEMORY_GOAL_MIB,
      goal: { atMost: 1 },
    },
  ]
}

const speed = (seconds: number[]) => `${(BYTES / MIB / median(seconds)).toFixed(0)} MiB/s`
const newKey = (number: number) => ({ id: number.toString(16).padStart(32, '0'), ref: null })

/** In chunks as a request gives them. */
function source(): Readable {
  const chunk = Buffer.alloc(65_536, 'svc')
  let left = BYTES
  return new Readable({
    read() {
      this.push(left > 0 ? chunk : null)
      left -= chunk.length
    },
  })
}

async function send(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const outgoing = request(url, { method: 'PUT', headers: { ...headers, 'content-length': BYTES } })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(source(), outgoing)
  const [response] = await answered
  await textOf(response)
}

async function drain(stream: Readable): Promise<void> {
  stream.resume()
  await once(stream, 'end')
}

/** The most memory this process has while something is done, over what it had before, in MiB. */
async function extraMemory(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  await work()
  clearInterval(timer)
  return (peak - before) / MIB
}

async function serve(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-storj-'))
  const { url, bucket, credentials, stop } = await startStorjServer({ folder })
  const settings: StorjSettings = { ...credentials, endpoint: url, bucket, prefix: '', redirect: 'all' }
  const stopAndClear = async () => {
    await stop()
    await rm(folder, { recursive: true })
  }
  reportTo(process, url, stopAndClear, settings)
}
