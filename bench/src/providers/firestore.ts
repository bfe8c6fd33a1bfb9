// The Firestore driver against the official SDK with the same chunks, both on the emulator of the testbed, which is in a
// process of its own.

import { Readable } from 'node:stream'
import { Firestore } from '@google-cloud/firestore'
import { type FirestoreProvider, openFirestore } from '@svc/gateway/providers/firestore/open'
import { startFirestoreServer } from '@svc/testbed/providers/firestore/start'
import { secondsOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'

const MEBIBYTE = 1_048_576
const SIZE = 256 * MEBIBYTE
const PIECE = Buffer.alloc(65_536, 'svc')
const CHUNK = Buffer.alloc(900 * 1024, 'svc')
const CHUNKS = Math.ceil(SIZE / CHUNK.length)
const AT_ONCE = 4
const ROUNDS = 5
const SAMPLE_MS = 20

export async function firestoreRows(): Promise<Row[]> {
  const { directAddress, stop } = await startFirestoreServer()
  const provider = await openFirestore({
    project: 'svc-bench',
    database: '(default)',
    collection: 'ours',
    credentials: null,
    emulator: directAddress,
    maxObjectBytes: SIZE,
  })
  // Without the last it looks for credentials of this machine.
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
    growths.push(await memoryGrowth(ours))
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
  const growth = median(growths)
  return [
    row('PUT of 256 MiB', seconds.put, seconds.barePut),
    row('GET of 256 MiB', seconds.get, seconds.bareGet),
    {
      what: 'Firestore driver: memory for 256 MiB in and out',
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
    what: `Firestore driver: ${what}`,
    measured: rate(median(ours)),
    against: `the SDK with documents of the same size, ${AT_ONCE} at once: ${rate(median(theirs))}`,
    ratio: median(theirs) / median(ours),
    goal: { atLeast: 0.8 },
  }
}

async function forEachChunk(work: (n: number) => Promise<unknown>): Promise<void> {
  const numbers = Array.from({ length: CHUNKS }, (_, n) => n).values()
  const workInTurn = async () => {
    for (const n of numbers) await work(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, workInTurn))
}

function expectChunk(data: Buffer): void {
  if (data.length !== CHUNK.length) throw new Error(`${data.length} bytes came back`)
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

function put(provider: FirestoreProvider, id: string): Promise<unknown> {
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
