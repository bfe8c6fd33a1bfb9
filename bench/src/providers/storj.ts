import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { startS3BucketServer } from '@svc/devnet/providers/s3-bucket/start'
import { type DriverSettings, openDriver } from '@svc/storage/drivers'
import { drainBytes, secondsOf, textOf } from '../bytes.ts'
import type { Row } from '../row.ts'
import { sizeText } from '../scale.ts'
import { reportTo, startServer } from '../server-process.ts'
import { drain, extraMemory, memoryRow, ROUNDS, SIZE, source, speedRow } from './measure.ts'

const TYPE = 'application/octet-stream'
const MEMORY_GOAL_MIB = 96

// As a child process, this file runs the store, so that the driver's figures exclude its work.
if (process.send) await serve()

/** Compares the driver with plain requests to signed URLs of the same store. */
export async function storjRows(): Promise<Row[]> {
  const server = await startServer('../providers/storj')
  const provider = await openDriver('storj', server.facts as DriverSettings<'storj'>) // as `serve` below reports them
  const seconds = { put: [] as number[], barePut: [] as number[], get: [] as number[], bareGet: [] as number[] }
  const peaks: number[] = []
  const about = { contentType: TYPE, expiresInSeconds: 600, size: SIZE, maxBytes: null }
  for (let round = 0; round < ROUNDS; round++) {
    const [key, bareKey] = [newKey(2 * round), newKey(2 * round + 1)]
    const upload = (await provider.uploadTarget(bareKey.id, about))!
    const download = (await provider.downloadTarget(key, about))!
    const put = () => provider.write(key.id, source(), { contentType: TYPE, size: SIZE })
    const get = async () => drain((await provider.read(key))!)
    seconds.barePut.push(await secondsOf(() => send(upload.url, upload.headers)))
    seconds.put.push(await secondsOf(async () => peaks.push(await extraMemory(put))))
    seconds.bareGet.push(await secondsOf(() => drainBytes(download.url)))
    seconds.get.push(await secondsOf(async () => peaks.push(await extraMemory(get))))
    for (const used of [key, bareKey]) await provider.remove(used)
  }
  await server.stop()
  const { put, barePut, get, bareGet } = seconds
  return [
    speedRow({
      what: `storj: PUT of ${sizeText(SIZE)}`,
      ours: put,
      against: 'node:http to a signed address',
      theirs: barePut,
    }),
    speedRow({
      what: `storj: GET of ${sizeText(SIZE)}`,
      ours: get,
      against: 'node:http from a signed address',
      theirs: bareGet,
    }),
    memoryRow(`storj: memory while ${sizeText(SIZE)} go in, then out`, Math.max(...peaks), MEMORY_GOAL_MIB),
  ]
}

const newKey = (number: number) => ({ id: number.toString(16).padStart(32, '0'), ref: null })

async function send(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const outgoing = request(url, { method: 'PUT', headers: { ...headers, 'content-length': SIZE } })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(source(), outgoing)
  const [response] = await answered
  await textOf(response)
}

async function serve(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-storj-'))
  const { url, bucket, credentials, stop } = await startS3BucketServer({ folder })
  const settings = {
    title: 'Storj',
    ...credentials,
    endpoint: url,
    bucket,
    prefix: '',
    redirect: 'all',
  } satisfies DriverSettings<'storj'>
  const stopAndClear = async () => {
    await stop()
    await rm(folder, { recursive: true })
  }
  reportTo(process, url, stopAndClear, settings)
}
