// Compares the Firestore driver with the official SDK and the same chunks, both on the emulator in a separate process.

import type { Readable } from 'node:stream'
import { Firestore } from '@google-cloud/firestore'
import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { openDriver } from '@svc/storage/drivers'
import type { StorageProvider } from '@svc/storage/provider'
import { secondsOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'
import { sizeText } from '../scale.ts'
import { drain, extraMemory, memoryRow, ROUNDS, SIZE, source, speedRow } from './measure.ts'

const CHUNK = Buffer.alloc(900 * 1024, 'svc')
const CHUNKS = Math.ceil(SIZE / CHUNK.length)
const AT_ONCE = 4

export async function firestoreRows(): Promise<Row[]> {
  const { directAddress, stop } = await startFirestoreServer()
  const provider = await openDriver('firestore', {
    project: 'svc-bench',
    database: '(default)',
    collection: 'ours',
    credentials: null,
    emulator: directAddress,
    maxObjectBytes: SIZE,
  })
  // Without this option, the SDK searches for credentials on this machine.
  const clientOptions = { universeDomain: 'googleapis.com' }
  const bare = new Firestore({ projectId: 'svc-bench', host: directAddress, ssl: false, clientOptions })
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
    const chunk = (n: number) => bare.doc(`bare/${n}`)
    seconds.barePut.push(await secondsOf(() => forEachChunk((n) => chunk(n).set({ data: CHUNK }))))
    seconds.bareGet.push(
      await secondsOf(() => forEachChunk(async (n) => expectChunk((await chunk(n).get()).get('data')))),
    )
    await forEachChunk((n) => chunk(n).delete())
  }
  await provider.close()
  await bare.terminate()
  await stop()
  const { put: puts, barePut, get: gets, bareGet } = seconds
  const against = `the SDK with documents of the same size, ${AT_ONCE} at once`
  return [
    speedRow({ what: `Firestore driver: PUT of ${sizeText(SIZE)}`, ours: puts, against, theirs: barePut }),
    speedRow({ what: `Firestore driver: GET of ${sizeText(SIZE)}`, ours: gets, against, theirs: bareGet }),
    memoryRow(`Firestore driver: memory for ${sizeText(SIZE)} in and out`, median(growths), 64),
  ]
}

async function forEachChunk(work: (n: number) => Promise<unknown>): Promise<void> {
  const numbers = Array.from({ length: CHUNKS }, (_, n) => n).values()
  const worker = async () => {
    for (const n of numbers) await work(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function expectChunk(data: Buffer): void {
  if (data.length !== CHUNK.length) throw new Error(`${data.length} bytes received`)
}

function put(provider: StorageProvider, id: string): Promise<unknown> {
  return provider.write(id, source(), { contentType: 'application/octet-stream', size: SIZE })
}
