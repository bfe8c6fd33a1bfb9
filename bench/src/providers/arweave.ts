import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { setInterval } from 'node:timers'
import { signItem } from '@svc/gateway/providers/arweave/data-item'
import { openArweave } from '@svc/gateway/providers/arweave/open'
import type { ArweaveSettings } from '@svc/gateway/providers/arweave/settings'
import type { SettlingObject } from '@svc/gateway/providers/slow-store'
import { startArweaveServer } from '@svc/testbed/providers/arweave/start'
import { drainBytes, secondsOf, textOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'
import { reportTo, startServer } from '../server-process.ts'

const ROUNDS = 5
const MIB = 1_048_576
const BYTES = 256 * MIB
/** The same from any offset. */
const CHUNK = Buffer.alloc(262_144, 1)
const SEED = new Uint8Array(32).fill(1)
const MEMORY_GOAL_MIB = 96

// As a process of its own this file is the service and its gateways, so that their work is not counted as the driver's.
if (process.send) await serve()

/** Bytes through the driver, against the least that anybody must do who sends and reads the same item. */
export async function arweaveRows(): Promise<Row[]> {
  const server = await startServer('../providers/arweave')
  const places = server.facts as Pick<ArweaveSettings, 'uploadUrl' | 'gateways'> // as `serve` below tells them
  const store = await openArweave({ ...places, token: 'solana', seed: SEED })
  const seconds = { put: [] as number[], barePut: [] as number[], get: [] as number[], bareGet: [] as number[] }
  const peaks: number[] = []
  const sha256 = hashOf('sha256')
  // Taken once; later it is looked at all the same, and not kept.
  const { header } = await signItem(newObject(ROUNDS, sha256), SEED)
  for (let round = 0; round < ROUNDS; round++) {
    const object = newObject(round, sha256)
    let ref = ''
    const put = async () => {
      ref = (await store.settle(object)).ref
    }
    const get = async () => drain((await store.read(ref))!)
    const barePut = async () => {
      hashOf('sha384')
      await send(`${places.uploadUrl}/v1/tx/solana`, header)
    }
    seconds.barePut.push(await secondsOf(barePut))
    seconds.put.push(await secondsOf(async () => peaks.push(await extraMemory(put))))
    seconds.bareGet.push(await secondsOf(() => drainBytes(`${places.gateways[0]}/${ref}`)))
    seconds.get.push(await secondsOf(async () => peaks.push(await extraMemory(get))))
  }
  await server.stop()
  const row = (what: string, ours: number[], against: string, theirs: number[]): Row => ({
    what: `arweave: ${what} of 256 MiB`,
    measured: speed(ours),
    against: `${against}: ${speed(theirs)}`,
    ratio: median(theirs) / median(ours),
    goal: { atLeast: 0.8 },
  })
  return [
    row('settling', seconds.put, 'SHA-384 for the signature, then the item by node:http', seconds.barePut),
    row('GET', seconds.get, 'node:http from the same gateway', seconds.bareGet),
    {
      what: 'arweave: memory while 256 MiB settle, then are read',
      measured: `${Math.max(...peaks).toFixed(0)} MiB more than before`,
      against: `${MEMORY_GOAL_MIB} MiB`,
      ratio: Math.max(...peaks) / MEMORY_GOAL_MIB,
      goal: { atMost: 1 },
    },
  ]
}

const speed = (seconds: number[]) => `${(BYTES / MIB / median(seconds)).toFixed(0)} MiB/s`

function hashOf(algorithm: 'sha256' | 'sha384'): string {
  const sum = createHash(algorithm)
  for (let left = BYTES; left > 0; left -= CHUNK.length) sum.update(CHUNK)
  return sum.digest('hex')
}

function newObject(number: number, sha256: string): SettlingObject {
  return {
    id: hash('sha256', `${number}`).slice(0, 32),
    size: BYTES,
    sha256,
    contentType: 'application/octet-stream',
    open: async ({ start, end } = { start: 0, end: BYTES - 1 }) => source(end - start + 1),
    notes: null,
    note: async () => {},
    signal: new AbortController().signal,
  }
}

/** In chunks as the local provider gives them. */
function source(length: number): Readable {
  let left = length
  return new Readable({
    highWaterMark: CHUNK.length,
    read() {
      this.push(left >= CHUNK.length ? CHUNK : left > 0 ? CHUNK.subarray(0, left) : null)
      left -= CHUNK.length
    },
  })
}

async function send(url: string, header: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream', 'content-length': header.length + BYTES }
  const outgoing = request(url, { method: 'POST', headers, agent: false })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  outgoing.write(header)
  for await (const chunk of source(BYTES)) if (!outgoing.write(chunk)) await once(outgoing, 'drain')
  outgoing.end()
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
  const { uploadUrl, gateways, stop } = await startArweaveServer()
  reportTo(process, uploadUrl, stop, { uploadUrl, gateways })
}
