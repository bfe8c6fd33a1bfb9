import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { startArweaveServer } from '@svc/devnet/providers/arweave/start'
import { type DriverSettings, openDriver } from '@svc/storage/drivers'
import type { StagedObject } from '@svc/storage/slow-store'
import { signItem } from '@svc/storage/test/driver-steps'
import { drainBytes, secondsOf, textOf } from '../bytes.ts'
import type { Row } from '../row.ts'
import { sizeText } from '../scale.ts'
import { reportTo, startServer } from '../server-process.ts'
import { drain, extraMemory, memoryRow, ROUNDS, SIZE, source, speedRow } from './measure.ts'

/** A chunk of the same length as the local provider's, with equal bytes at every offset. */
const CHUNK = Buffer.alloc(262_144, 1)
const SEED = new Uint8Array(32).fill(1)
const MEMORY_GOAL_MIB = 96

// As a child process, this file runs the service and its gateways, so that the driver's figures exclude their work.
if (process.send) await serve()

/** Compares the driver with the least work needed to send and read the same item. */
export async function arweaveRows(): Promise<Row[]> {
  const server = await startServer('../providers/arweave')
  const endpoints = server.facts as Pick<DriverSettings<'arweave'>, 'uploadUrl' | 'gateways'> // as `serve` below reports them
  const store = await openDriver('arweave', { ...endpoints, token: 'solana', seed: SEED })
  const seconds = { put: [] as number[], barePut: [] as number[], get: [] as number[], bareGet: [] as number[] }
  const peaks: number[] = []
  const sha256 = hashOf('sha256')
  // The server stores the item once; later it only checks the bytes and discards them.
  const { header } = await signItem(newObject(ROUNDS, sha256), SEED)
  for (let round = 0; round < ROUNDS; round++) {
    const object = newObject(round, sha256)
    let ref = ''
    const put = async () => {
      ref = (await store.deliver(object)).ref
    }
    const get = async () => drain((await store.read(ref))!)
    const barePut = async () => {
      hashOf('sha384')
      await send(`${endpoints.uploadUrl}/v1/tx/solana`, header)
    }
    seconds.barePut.push(await secondsOf(barePut))
    seconds.put.push(await secondsOf(async () => peaks.push(await extraMemory(put))))
    seconds.bareGet.push(await secondsOf(() => drainBytes(`${endpoints.gateways[0]}/${ref}`)))
    seconds.get.push(await secondsOf(async () => peaks.push(await extraMemory(get))))
  }
  await server.stop()
  const { put, barePut, get, bareGet } = seconds
  const leastPut = 'SHA-384 for the signature, then the item by node:http'
  return [
    speedRow({ what: `arweave: delivery of ${sizeText(SIZE)}`, ours: put, against: leastPut, theirs: barePut }),
    speedRow({
      what: `arweave: GET of ${sizeText(SIZE)}`,
      ours: get,
      against: 'node:http from the same gateway',
      theirs: bareGet,
    }),
    memoryRow(`arweave: memory while ${sizeText(SIZE)} are delivered, then read`, Math.max(...peaks), MEMORY_GOAL_MIB),
  ]
}

function hashOf(algorithm: 'sha256' | 'sha384'): string {
  const sum = createHash(algorithm)
  for (let left = SIZE; left > 0; left -= CHUNK.length) sum.update(CHUNK)
  return sum.digest('hex')
}

function newObject(number: number, sha256: string): StagedObject {
  return {
    id: hash('sha256', `${number}`).slice(0, 32),
    size: SIZE,
    sha256,
    contentType: 'application/octet-stream',
    open: async ({ start, end } = { start: 0, end: SIZE - 1 }) => source(end - start + 1, CHUNK),
    progress: null,
    saveProgress: async () => {},
    signal: new AbortController().signal,
  }
}

async function send(url: string, header: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream', 'content-length': header.length + SIZE }
  const outgoing = request(url, { method: 'POST', headers, agent: false })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  outgoing.write(header)
  for await (const chunk of source(SIZE, CHUNK)) if (!outgoing.write(chunk)) await once(outgoing, 'drain')
  outgoing.end()
  const [response] = await answered
  await textOf(response)
}

async function serve(): Promise<void> {
  const { uploadUrl, gateways, stop } = await startArweaveServer()
  reportTo(process, uploadUrl, stop, { uploadUrl, gateways })
}
