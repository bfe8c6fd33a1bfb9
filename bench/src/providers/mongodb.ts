// Compares the MongoDB driver with the official SDK's GridFS bucket, both on a local server in a separate process.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { openDriver } from '@svc/storage/drivers'
import type { StorageProvider } from '@svc/storage/provider'
import { GridFSBucket, MongoClient } from 'mongodb'
import { secondsOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'
import { sizeText } from '../scale.ts'
import { drain, extraMemory, MEBIBYTE, memoryRow, ROUNDS, SIZE, source, speedRow } from './measure.ts'

export async function mongodbRows(): Promise<Row[]> {
  const server = await startServer()
  const provider = await openDriver('mongodb', { url: server.url, database: 'bench', bucket: 'ours' })
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
    growths.push(await extraMemory(ours))
    await provider.remove({ id, ref: null })
    const upload = bare.openUploadStream('bench')
    seconds.barePut.push(await secondsOf(() => pipeline(source(), upload)))
    seconds.bareGet.push(await secondsOf(() => drain(bare.openDownloadStream(upload.id))))
    await bare.delete(upload.id)
  }
  await provider.close()
  await client.close()
  await server.stop()
  const { put: puts, barePut, get: gets, bareGet } = seconds
  const against = "the SDK's bucket with the same chunks"
  return [
    speedRow({ what: `MongoDB driver: PUT of ${sizeText(SIZE)}`, ours: puts, against, theirs: barePut }),
    speedRow({ what: `MongoDB driver: GET of ${sizeText(SIZE)}`, ours: gets, against, theirs: bareGet }),
    memoryRow(`MongoDB driver: memory for ${sizeText(SIZE)} in and out`, median(growths), 64),
  ]
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const program = fileURLToPath(import.meta.resolve('@svc/devnet/providers/mongodb/main'))
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

function put(provider: StorageProvider, id: string): Promise<unknown> {
  return provider.write(id, source(), { contentType: 'application/octet-stream', size: SIZE })
}
