import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { Storage } from '@google-cloud/storage'
import { openGcs } from '@svc/gateway/providers/gcs/open'
import type { StorageProvider } from '@svc/gateway/providers/provider'
import type { GcsServer } from '@svc/testbed/providers/gcs/start'
import { secondsOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'

const MEBIBYTE = 1_048_576
const SIZE = 256 * MEBIBYTE
const ROUNDS = 5
const AT_ONCE = 8
/** As requests give them. */
const PIECE = Buffer.alloc(65_536, 'svc')

type Store = Pick<GcsServer, 'url' | 'bucket' | 'keyFile'>

/** The driver of Google Cloud Storage against Google's library, on the same stand-in in another process. */
export async function gcsRows(): Promise<Row[]> {
  const child = fork(fileURLToPath(import.meta.resolve('@svc/testbed/providers/gcs/process')))
  const [store] = (await once(child, 'message')) as [Store]
  const { url: endpoint, bucket, keyFile } = store
  const credentials = JSON.parse(keyFile)
  const provider = await openGcs({ bucket, prefix: '', credentials, endpoint, iamEndpoint: endpoint, redirect: 'off' })
  const memory = await memoryRow(provider)
  const library = await openLibrary(store)
  const seconds = { put: [] as number[], get: [] as number[], theirPut: [] as number[], theirGet: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    const [id, theirs] = [newId(), newId()]
    seconds.theirPut.push(await secondsOf(() => library.put(theirs)))
    seconds.put.push(await secondsOf(() => put(provider, id)))
    seconds.theirGet.push(await secondsOf(() => library.get(theirs)))
    seconds.get.push(await secondsOf(() => get(provider, id)))
    for (const done of [id, theirs]) await provider.remove({ id: done, ref: null })
  }
  child.disconnect()
  await once(child, 'exit')
  return [row('PUT', seconds.put, seconds.theirPut), row('GET', seconds.get, seconds.theirGet), memory]
}

function row(verb: string, ours: number[], theirs: number[]): Row {
  const speed = (seconds: number[]) => `${(SIZE / MEBIBYTE / median(seconds)).toFixed(0)} MiB/s`
  return {
    what: `gcs: ${verb} of 256 MiB through the driver`,
    measured: speed(ours),
    against: `@google-cloud/storage without checksums: ${speed(theirs)}`,
    ratio: median(theirs) / median(ours),
    goal: { atLeast: 0.8 },
  }
}

/** First of all, in a process that has moved no bytes yet. */
async function memoryRow(provider: StorageProvider): Promise<Row> {
  const ids = Array.from({ length: AT_ONCE }, newId)
  const before = process.memoryUsage.rss()
  const peakIn = await peakOf(() => Promise.all(ids.map((id) => put(provider, id))))
  const peakOut = await peakOf(() => Promise.all(ids.map((id) => get(provider, id))))
  await Promise.all(ids.map((id) => provider.remove({ id, ref: null })))
  const extra = (peak: number) => (peak - before) / MEBIBYTE
  return {
    what: `gcs: extra memory, ${AT_ONCE} × 256 MiB in, then out, at once`,
    measured: `${extra(peakIn).toFixed(0)} MiB in, ${extra(peakOut).toFixed(0)} out`,
    against: '250 MiB',
    ratio: extra(Math.max(peakIn, peakOut)) / 250,
    goal: { atMost: 1 },
  }
}

async function peakOf(work: () => Promise<unknown>): Promise<number> {
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 10)
  await work()
  clearInterval(sampling)
  return peak
}

function newId(): string {
  return randomBytes(16).toString('hex')
}

function source(): Readable {
  let left = SIZE
  return new Readable({
    read() {
      left -= PIECE.length
      this.push(left >= 0 ? PIECE : null)
    },
  })
}

async function put(provider: StorageProvider, id: string): Promise<void> {
  await provider.write(id, source(), { contentType: 'application/octet-stream', size: SIZE })
}

async function get(provider: StorageProvider, id: string): Promise<void> {
  await drain((await provider.read({ id, ref: null }))!)
}

async function drain(stream: Readable): Promise<void> {
  let length = 0
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  await once(stream, 'end')
  if (length !== SIZE) throw new Error(`${length} bytes came`)
}

/** In sessions, as it would do by itself, but for their beginning: elsewhere than at Google it shows no credentials. */
async function openLibrary({ url, bucket, keyFile }: Store) {
  const storage = new Storage({ projectId: 'unused', apiEndpoint: url, useAuthWithCustomEndpoint: true })
  storage.authClient.jsonContent = JSON.parse(keyFile)
  const { transporter } = await storage.authClient.getClient()
  const toStore = async (request: { url: URL }) =>
    request.url.pathname === '/token' ? { ...request, url: new URL('/token', url) } : request
  transporter.interceptors.request.add({ resolved: toStore } as never) // its type is not exported
  const file = (name: string) => storage.bucket(bucket).file(name)
  return {
    async put(name: string) {
      const query = new URLSearchParams({ uploadType: 'resumable', name, ifGenerationMatch: '0' })
      const headers = await storage.authClient.getRequestHeaders(url)
      const begun = await fetch(`${url}/upload/storage/v1/b/${bucket}/o?${query}`, { method: 'POST', headers })
      const uri = begun.headers.get('location') as string
      await pipeline(source(), file(name).createWriteStream({ uri, validation: false }))
    },
    get: (name: string) => drain(file(name).createReadStream({ validation: false })),
  }
}
