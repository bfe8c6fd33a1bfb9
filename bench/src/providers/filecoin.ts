import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFilecoinServer } from '@svc/devnet/providers/filecoin/start'
import { type DriverSettings, openDriver } from '@svc/storage/drivers'
import type { SlowStore } from '@svc/storage/slow-store'
import { commitmentThread } from '@svc/storage/test/driver-steps'
import { create } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import { drainBytes, secondsOf } from '../bytes.ts'
import type { Row } from '../row.ts'
import { sizeText } from '../scale.ts'
import { reportTo, startServer } from '../server-process.ts'
import { drain, MEBIBYTE, ROUNDS, SIZE, source, speedRow } from './measure.ts'

type Settings = DriverSettings<'filecoin'>

const SMALL = 32 * MEBIBYTE
const CHUNK = Buffer.alloc(MEBIBYTE, 'svc')

// As a child process, this file runs the provider, so that the driver's figures exclude its work.
if (process.send) await serve()

/** Compares a put with the bare library, because the commitment dominates it, and a get with bare HTTP. */
export async function filecoinRows(): Promise<Row[]> {
  const server = await startServer('../providers/filecoin')
  const store = await openDriver('filecoin', server.facts as Settings) // as `serve` below reports them
  const commitmentOf = commitmentThread()
  const seconds = { thread: [] as number[], bare: [] as number[], get: [] as number[], bareGet: [] as number[] }
  await deliver(store, MEBIBYTE) // creates the data set
  for (let round = 0; round < ROUNDS; round++) {
    seconds.bare.push(await secondsOf(async () => commitTo(SMALL)))
    seconds.thread.push(await secondsOf(() => commitmentOf(source(SMALL, CHUNK))))
  }
  const barePut = await secondsOf(async () => commitTo(SIZE))
  let ref = ''
  const put = await secondsOf(async () => {
    ref = await deliver(store, SIZE)
  })
  for (let round = 0; round < ROUNDS; round++) {
    seconds.bareGet.push(await secondsOf(() => drainBytes(`${server.url}/piece/${ref}`)))
    seconds.get.push(await secondsOf(async () => drain((await store.read(ref))!)))
  }
  await server.stop()
  const { thread, bare, get, bareGet } = seconds
  return [
    speedRow({
      what: 'filecoin: commitment to 32 MiB, in a thread',
      ours: thread,
      against: 'the bare WASM',
      theirs: bare,
      size: SMALL,
      atLeast: 0.9,
    }),
    speedRow({
      what: `filecoin: ${sizeText(SIZE)} until they are delivered`,
      ours: [put],
      against: 'the bare WASM alone',
      theirs: [barePut],
      atLeast: 0.7,
    }),
    speedRow({ what: `filecoin: GET of ${sizeText(SIZE)}`, ours: get, against: 'bare node:http', theirs: bareGet }),
  ]
}

function commitTo(length: number): void {
  const hasher = create()
  for (let left = length; left > 0; left -= CHUNK.length) hasher.write(CHUNK)
  hasher.digestInto(new Uint8Array(hasher.multihashByteLength()), 0, true)
  hasher.free()
}

async function deliver(store: SlowStore, size: number): Promise<string> {
  const sha256 = createHash('sha256')
  for (let left = size; left > 0; left -= CHUNK.length) sha256.update(CHUNK)
  const { ref } = await store.deliver({
    id: randomBytes(16).toString('hex'),
    size,
    sha256: sha256.digest('hex'),
    contentType: 'application/octet-stream',
    open: async () => source(size, CHUNK),
    progress: null,
    saveProgress: async () => {},
    signal: new AbortController().signal,
  })
  return ref
}

async function serve(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-filecoin-'))
  const server = await startFilecoinServer({ folder, looks: 0, isTrusting: true })
  const { url, rpcUrl, chainId, recordKeeper, payee } = server
  const key = `0x${'5c'.repeat(32)}` as const
  const stopAndClear = async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  }
  const settings: Settings = {
    pdpUrl: url,
    rpcUrl,
    chainId,
    recordKeeper,
    payee,
    key,
    dataSet: null,
    retrievalUrl: null,
  }
  reportTo(process, url, stopAndClear, settings)
}
