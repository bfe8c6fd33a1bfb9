import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { Storage } from '@google-cloud/storage'
import type { GcsServer } from '@svc/devnet/providers/gcs/start'
import { openDriver } from '@svc/storage/drivers'
import type { StorageProvider } from '@svc/storage/provider'
import { secondsOf } from '../bytes.ts'
import type { Row } from '../row.ts'
import { sizeText } from '../scale.ts'
import { drain, extraMemory, memoryRow, ROUNDS, SIZE, source, speedRow } from './measure.ts'

const AT_ONCE = 8

type Store = Pick<GcsServer, 'url' | 'bucket' | 'keyFile'>

/** Compares the Google Cloud Storage driver with Google's library on the same local server in another process. */
export async function gcsRows(): Promise<Row[]> {
  const child = fork(fileURLToPath(import.meta.resolve('@svc/devnet/providers/gcs/process')))
  const [store] = (await once(child, 'message')) as [Store]
  const { url: endpoint, bucket, keyFile } = store
  const credentials = JSON.parse(keyFile)
  const settings = { bucket, prefix: '', credentials, endpoint, iamEndpoint: endpoint, redirect: 'off' } as const
  const provider = await openDriver('gcs', settings)
  const memory = await memoryOf(provider)
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
  const against = '@google-cloud/storage without checksums'
  return [
    speedRow({
      what: `gcs: PUT of ${sizeText(SIZE)} through the driver`,
      ours: seconds.put,
      against,
      theirs: seconds.theirPut,
    }),
    speedRow({
      what: `gcs: GET of ${sizeText(SIZE)} through the driver`,
      ours: seconds.get,
      against,
      theirs: seconds.theirGet,
    }),
    memory,
  ]
}

/** Must run first, before this process has transferred any bytes. */
async function memoryOf(provider: StorageProvider): Promise<Row> {
  const ids = Array.from({ length: AT_ONCE }, newId)
  const extra = await extraMemory(async () => {
    await Promise.all(ids.map((id) => put(provider, id)))
    await Promise.all(ids.map((id) => get(provider, id)))
  })
  await Promise.all(ids.map((id) => provider.remove({ id, ref: null })))
  return memoryRow(`gcs: memory while ${AT_ONCE} × ${sizeText(SIZE)} go in, then out, at once`, extra, 250)
}

function newId(): string {
  return randomBytes(16).toString('hex')
}

async function put(provider: StorageProvider, id: string): Promise<void> {
  await provider.write(id, source(), { contentType: 'application/octet-stream', size: SIZE })
}

async function get(provider: StorageProvider, id: string): Promise<void> {
  await drain((await provider.read({ id, ref: null }))!)
}

/** Uses sessions, the default. They begin here, because the library sends credentials only to Google's hosts. */
async function openLibrary({ url, bucket, keyFile }: Store) {
  const storage = new Storage({ projectId: 'unused', apiEndpoint: url, useAuthWithCustomEndpoint: true })
  storage.authClient.jsonContent = JSON.parse(keyFile)
  const { transporter } = await storage.authClient.getClient()
  const toStore = async (request: { url: URL }) =>
    request.url.pathname === '/token' ? { ...request, url: new URL('/token', url) } : request
  transporter.interceptors.request.add({ resolved: toStore } as never) // the type is not exported
  const file = (name: string) => storage.bucket(bucket).file(name)
  return {
    async put(name: string) {
      const query = new URLSearchParams({ uploadType: 'resumable', name, ifGenerationMatch: '0' })
      const headers = await storage.authClient.getRequestHeaders(url)
      const begun = await fetch(`${url}/upload/storage/v1/b/${bucket}/o?${query}`, { method: 'POST', headers })
      const uri = begun.headers.get('location') as string
      await pipeline(source(), file(name).createWriteStream({ uri, validation: false }))
    },
    // The library reads a response through two pipelines, which exceeds the number of listeners that Node expects.
    get: (name: string) =>
      drain(
        file(name)
          .createReadStream({ validation: false })
          .on('response', (response: Readable) => response.setMaxListeners(20)),
      ),
  }
}
