// The MongoDB driver against the bucket of the official SDK, both on the server of the testbed in a process of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { type MongodbProvider, openMongodb } from '@svc/gateway/providers/mongodb/open'
import { GridFSBucket, MongoClient } from 'mongodb'
import { secondsOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'

const MEBIBYTE = 1_048_576
const SIZE = 256 * MEBIBYTE
const PIECE = Buffer.alloc(65_536, 'svc')
const ROUNDS = 5
const SAMPLE_MS = 20

export async function mongodbRows(): Promise<Row[]> {
  const server = await startServer()
  const provider = await openMongodb({ url: server.url, database: 'bench', bucket: 'ours' })
  const client = new MongoClient(server.url)
  const writeConcern = { w: 'majority', journal: true } as const
  const bare = new GridFSBucket(client.db('bench'), { bucketName: 'bare', chunkSizeBytes: MEBIBYTE, writeConcern })
  const seconds = { put: [] as number[], barePut: [] as number[], get: [] as number[], bareGet: [] as number[] }
  const growths: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const id = round.toString(16).padStart(32, '0')
    const ours = async () => {
      seconds.put.push(await secondsOf(() => put(provider, id)))
      seconds.get.push(await secondsOf(async () => drain((await provider.read({ id, ref: null })) as Readable))) // put above
    }
    growths.push(await memoryGrowth(ours))
    await provider.remove({ id, ref: null })
    const upload = bare.openUploadStream('bench')
    seconds.barePut.push(await secondsOf(() => pipeline(source(), upload)))
    seconds.bareGet.push(await secondsOf(() => drain(bare.openDownloadStream(upload.id))))
    await bare.delete(upload.id)
  }
  await provider.close()
  await client.close()
  await server.stop()
  const growth = median(growths)
  return [
    row('PUT of 256 MiB', seconds.put, seconds.barePut),
    row('GET of 256 MiB', seconds.get, seconds.bareGet),
    {
      what: 'MongoDB driver: memory for 256 MiB in and out',
      measured: `${growth.toFixed(0)} MiB more`,
      against: '64 MiB',
      ratio: growth / 64,
      goal: { atMost: 1 },
    },
  ]
}

function row(what: string, ours: number[], theirs: number[]): Row {
  const rate = (seconds: number) => `${(SIZE / MEBIBYTE / seconds).toFixed(0)} MiB/s`
  return {
    what: `MongoDB driver: ${what}`,
    measured: rate(median(ours)),
    against: `the SDK's bucket with the same chunks: ${rate(median(theirs))}`,
    ratio: median(theirs) / median(ours),
    goal: { atLeast: 0.8 },
  }
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const program = fileURLToPath(import.meta.resolve('@svc/testbed/providers/mongodb/main'))
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, DEV_MONGODB_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return {
    url,
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

function source(): Readable {
  let left = SIZE
  return new Readable({
    read() {
      this.push(left > 0 ? PIECE : null)
      left -= PIECE.length
    },
  })
}

function put(provider: MongodbProvider, id: string): Promise<unknown> {
  return provider.write(id, source(), { contentType: 'application/octet-stream', size: SIZE })
}

async function drain(bytes: Readable): Promise<void> {
  let length = 0
  for await (const piece of bytes) length += piece.length
  if (length !== SIZE) throw new Error(`${length} bytes came back`)
}

/** In MiB: how much more this process has at most than before. */
async function memoryGrowth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss()
  let peak = before
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, SAMPLE_MS)
  await work()
  clearInterval(sampling)
  return (peak - before) / MEBIBYTE
}
